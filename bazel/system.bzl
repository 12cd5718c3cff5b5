"""External repositories made of the libraries that Debian installs.

Call redial_system_deps() in a WORKSPACE (Bazel without modules). It defines
every repository that redial loads from, under the labels the Bazel Central
Registry uses, so the BUILD files do not know which of the two is there.
Nothing is downloaded.

Each library's headers are copied into its repository, a folder per target. A
target that includes a header without naming its owner is then an error in
the layering check, as it would be with the registry's packages.
"""

load("//bazel/system:abseil.bzl", "abseil_targets")

def _run(ctx, arguments):
    result = ctx.execute(arguments)
    if result.return_code:
        fail("{}: {}{}".format(
            " ".join(arguments[:3]),
            result.stdout,
            result.stderr,
        ))
    return result.stdout

def _pkg_config(ctx, package, variable):
    tool = ctx.which("pkg-config")
    if not tool:
        fail("pkg-config is not installed; tools/test installs what is needed")
    return _run(ctx, [tool, "--variable=" + variable, package]).strip()

def _read_package(ctx, path):
    """Reads the two lines of a .pc file that matter here."""
    requires = []
    libs = []
    for line in ctx.read(path).split("\n"):
        key, _, value = line.partition(":")
        words = value.replace(",", " ").split(" ")
        if key == "Requires":
            # The version after "=" is not the name of a package.
            requires = [w for w in words if w and w[0].isalpha()]
        elif key == "Libs":
            # Debian's shared libraries bring libatomic with them if need be.
            libs = [w for w in words if w[:2] == "-l" and w != "-latomic"]
    return struct(requires = requires, libs = libs)

def _link_options(ctx, packages):
    libs = []
    for package in packages:
        folder = _pkg_config(ctx, package, "pcfiledir")
        libs += _read_package(ctx, folder + "/" + package + ".pc").libs
    return libs

def _abseil(ctx):
    packages = {}
    folder = ctx.path(_pkg_config(ctx, "absl_base", "pcfiledir"))
    for entry in folder.readdir():
        if entry.basename.startswith("absl_"):
            packages[entry.basename[:-len(".pc")]] = _read_package(ctx, entry)
    return abseil_targets(packages)

def _copy_headers(ctx, includedir, headers):
    """Copies folders first, then single files.

    A header named by itself belongs to the folder that names it and to no
    other.
    """
    script = ["set -eu"]
    single = {}
    for folder, paths in headers.items():
        script.append('mkdir -p "$1/%s"' % folder)
        for path in paths:
            if path.rpartition("/")[2].rpartition(".")[1]:
                single[path] = folder
            else:
                script.append('cp -rL --parents %s "$1/%s/"' % (path, folder))
    for folder, paths in headers.items():
        if [p for p in paths if p not in single]:
            script += ['rm -f "$1/%s/%s"' % (folder, p) for p in single]
    for path, folder in single.items():
        # A header that this version of the library lacks is left out.
        script.append(
            '[ ! -e %s ] || cp -L --parents %s "$1/%s/"' % (path, path, folder),
        )
    _run(ctx, [
        "sh",
        "-c",
        'cd "$0"\n' + "\n".join(script),
        includedir,
        str(ctx.path(".")),
    ])

def _system_repository_impl(ctx):
    files = dict(ctx.attr.files)
    headers = dict(ctx.attr.headers)
    if ctx.attr.abseil:
        abseil = _abseil(ctx)
        files.update(abseil.files)
        headers.update(abseil.headers)
    for path, text in files.items():
        ctx.file(path, text, executable = False)
    substitutions = {
        '["%s"]' % key: repr(_link_options(ctx, packages))
        for key, packages in ctx.attr.linkopts.items()
    }
    for label, path in ctx.attr.templates.items():
        ctx.template(path, label, substitutions, executable = False)
    if headers:
        includedir = "/usr/include"
        if ctx.attr.includedir_of:
            includedir = _pkg_config(ctx, ctx.attr.includedir_of, "includedir")
        _copy_headers(ctx, includedir, headers)
    for name, program in ctx.attr.programs.items():
        path = ctx.which(program)
        if not path:
            fail(program + " is not installed; tools/test installs it")
        ctx.symlink(path, name)

_system_repository = repository_rule(
    implementation = _system_repository_impl,
    attrs = {
        "abseil": attr.bool(doc = "Write the targets of Abseil."),
        "files": attr.string_dict(doc = "path -> text"),
        "headers": attr.string_list_dict(doc = "folder -> files, folders"),
        "includedir_of": attr.string(doc = "pkg-config name"),
        "linkopts": attr.string_list_dict(
            doc = 'The template\'s ["key"] becomes the link options of these ' +
                  "pkg-config packages.",
        ),
        "programs": attr.string_dict(doc = "link -> program in PATH"),
        "templates": attr.label_keyed_string_dict(
            doc = "file -> path in the repository",
            allow_files = True,
        ),
    },
    doc = "A repository made of files, copied headers and links.",
    # Look again after each start of Bazel: packages may have been upgraded.
    local = True,
)

# Debian's own rules_cc is too new for its Bazel. All of these rules are
# native in Bazel 4.
_CC_RULES = [
    "cc_binary",
    "cc_import",
    "cc_library",
    "cc_proto_library",
    "cc_test",
    "cc_toolchain",
    "cc_toolchain_suite",
]

_COVERAGE_STUB = """
package(default_visibility = ["//visibility:public"])

[sh_binary(
    name = name,
    srcs = ["missing.sh"],
) for name in [
    "coverage_report_generator",
    "lcov_merger",
]]
"""

def _native(rules):
    return "".join(["{0} = native.{0}\n".format(rule) for rule in rules])

def _rules_cc(name):
    files = {
        "BUILD.bazel": "",
        "cc/BUILD.bazel": "",
        "cc/defs.bzl": _native(_CC_RULES),
    }
    for rule in _CC_RULES:
        files["cc/%s.bzl" % rule] = _native([rule])
    _system_repository(name = name, files = files)

def _remote_coverage_tools(name):
    _system_repository(name = name, files = {
        "BUILD.bazel": _COVERAGE_STUB,
        "missing.sh": "echo 'coverage needs Bazel with modules' >&2; exit 1\n",
    })

def _com_google_absl(name):
    _system_repository(name = name, abseil = True)

def _com_google_protobuf(name):
    _system_repository(
        name = name,
        files = {
            "bazel/BUILD.bazel": "",
            "bazel/cc_proto_library.bzl": _native(["cc_proto_library"]),
            "bazel/proto_library.bzl": _native(["proto_library"]),
        },
        headers = {
            "_delimited_message_util": [
                "google/protobuf/util/delimited_message_util.h",
            ],
            "_differencer": [
                "google/protobuf/util/field_comparator.h",
                "google/protobuf/util/message_differencer.h",
            ],
            "_field_mask_util": ["google/protobuf/util/field_mask_util.h"],
            "_json_util": ["google/protobuf/util/json_util.h"],
            "_protobuf": ["google/protobuf"],
            "_time_util": ["google/protobuf/util/time_util.h"],
        },
        includedir_of = "protobuf",
        linkopts = {"protobuf": ["protobuf"]},
        programs = {"_protoc": "protoc"},
        templates = {Label("//bazel/system:protobuf.BUILD"): "BUILD.bazel"},
    )

def _com_github_grpc_grpc(name):
    _system_repository(
        name = name,
        files = {"bazel/BUILD.bazel": ""},
        headers = {
            "_grpc++": ["grpc", "grpcpp"],
            "_grpc++_test": ["grpcpp/test/" + header for header in [
                "channel_test_peer.h",
                "client_context_test_peer.h",
                "default_reactor_test_peer.h",
                "mock_stream.h",
                "server_context_test_spouse.h",
            ]],
        },
        includedir_of = "grpc",
        linkopts = {"grpc++": ["grpc++", "grpc", "gpr"]},
        programs = {"src/compiler/_grpc_cpp_plugin": "grpc_cpp_plugin"},
        templates = {
            Label("//bazel/system:cc_grpc_library.bzl"): "bazel/cc_grpc_library.bzl",
            Label("//bazel/system:grpc.BUILD"): "BUILD.bazel",
            Label("//bazel/system:grpc_compiler.BUILD"): "src/compiler/BUILD.bazel",
        },
    )

def _com_google_googletest(name):
    _system_repository(
        name = name,
        headers = {"_gtest": ["gmock", "gtest"]},
        includedir_of = "gtest",
        linkopts = {
            "gtest": ["gmock", "gtest"],
            "gtest_main": ["gmock_main"],
        },
        templates = {Label("//bazel/system:googletest.BUILD"): "BUILD.bazel"},
    )

def _google_benchmark(name):
    _system_repository(
        name = name,
        headers = {"_benchmark": ["benchmark"]},
        includedir_of = "benchmark",
        linkopts = {"benchmark": ["benchmark"]},
        templates = {Label("//bazel/system:benchmark.BUILD"): "BUILD.bazel"},
    )

def _curl(name):
    _system_repository(
        name = name,
        headers = {"_curl": ["curl"]},
        includedir_of = "libcurl",
        linkopts = {"curl": ["libcurl"]},
        templates = {Label("//bazel/system:curl.BUILD"): "BUILD.bazel"},
    )

def _platforms(name):
    native.local_repository(name = name, path = "/usr/share/bazel/platforms")

def _rules_java(name):
    native.local_repository(name = name, path = "/usr/share/bazel/rules/java")

def _rules_proto(name):
    native.local_repository(name = name, path = "/usr/share/bazel/rules/proto")

def redial_system_deps():
    """Defines what redial needs, except what the WORKSPACE has defined."""
    for name, define in {
        "com_github_grpc_grpc": _com_github_grpc_grpc,
        "com_google_absl": _com_google_absl,
        "com_google_googletest": _com_google_googletest,
        "com_google_protobuf": _com_google_protobuf,
        "curl": _curl,
        "google_benchmark": _google_benchmark,
        "platforms": _platforms,
        "remote_coverage_tools": _remote_coverage_tools,
        "rules_cc": _rules_cc,
        "rules_java": _rules_java,
        "rules_proto": _rules_proto,
    }.items():
        if name not in native.existing_rules():
            define(name)
