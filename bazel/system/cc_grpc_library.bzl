"""cc_grpc_library with the attributes of the one in gRPC's own repository."""

load("@rules_cc//cc:cc_library.bzl", "cc_library")

def _generate_impl(ctx):
    info = ctx.attr.proto[ProtoInfo]
    root = "/".join([
        part
        for part in [ctx.bin_dir.path, ctx.label.workspace_root]
        if part
    ])
    sources = []
    headers = []
    names = []
    for source in info.direct_sources:
        name = source.short_path
        if name.startswith("../"):
            name = name.split("/", 2)[2]
        names.append(name)
        stem = name[len(ctx.label.package) + 1 if ctx.label.package else 0:]
        stem = stem[:-len(".proto")]
        sources.append(ctx.actions.declare_file(stem + ".grpc.pb.cc"))
        headers.append(ctx.actions.declare_file(stem + ".grpc.pb.h"))
    arguments = ctx.actions.args()
    arguments.add(ctx.executable._plugin, format = "--plugin=protoc-gen-grpc=%s")
    arguments.add("--grpc_out=" + root)
    arguments.add_all(info.transitive_proto_path, format_each = "-I%s")
    arguments.add_all(names)
    ctx.actions.run(
        executable = ctx.executable._protoc,
        arguments = [arguments],
        inputs = info.transitive_sources,
        tools = [ctx.executable._plugin],
        outputs = sources + headers,
        mnemonic = "GrpcCpp",
        progress_message = "Generating gRPC code of %s" % ctx.label,
    )
    return [
        DefaultInfo(files = depset(sources + headers)),
        OutputGroupInfo(
            headers = depset(headers),
            sources = depset(sources),
        ),
    ]

_generate = rule(
    implementation = _generate_impl,
    attrs = {
        "proto": attr.label(mandatory = True, providers = [ProtoInfo]),
        "_plugin": attr.label(
            cfg = "host",
            default = Label("//src/compiler:grpc_cpp_plugin"),
            executable = True,
        ),
        "_protoc": attr.label(
            cfg = "host",
            default = Label("@com_google_protobuf//:protoc"),
            executable = True,
        ),
    },
)

def cc_grpc_library(name, srcs, deps, grpc_only, **kwargs):
    """A library of the service stubs in one proto_library.

    Args:
      name: the name of the library.
      srcs: the proto_library, alone in a list.
      deps: its cc_proto_library, alone in a list.
      grpc_only: True; upstream's other mode is not offered.
      **kwargs: passed on to the cc_library.
    """
    if not grpc_only or len(srcs) != 1 or len(deps) != 1:
        fail("cc_grpc_library: one proto, one cc_proto, grpc_only = True")
    generated = "_" + name + "_grpc_codegen"
    _generate(name = generated, proto = srcs[0])
    for group in ["headers", "sources"]:
        native.filegroup(
            name = generated + "_" + group,
            srcs = [generated],
            output_group = group,
        )
    cc_library(
        name = name,
        srcs = [generated + "_sources"],
        hdrs = [generated + "_headers"],
        deps = deps + [Label("//:grpc++")],
        **kwargs
    )
