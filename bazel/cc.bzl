"""C++ rules with the project's options.

    load("//bazel:cc.bzl", "redial_cc_library", "redial_cc_test")

A package below interceptors/ publishes its headers under the prefix redial/:
interceptors/core/backoff.h is included as "redial/core/backoff.h". Everywhere
else the path from the root of the repository is the include path.
"""

load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")

# Warnings become errors in .bazelrc, for this repository alone: a dependent
# with another compiler must still be able to build it.
_COPTS = [
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
]

_FEATURES = ["layering_check"]

def _header_check(name, hdrs, copts, **kwargs):
    """Compiles each header alone, as a source of a library of its own.

    This shows that the header includes all it uses, and it extends the
    layering check, which looks at sources only, to the header's includes.
    It is done under --config=clang, where there is a layering check.
    """
    sources = []
    for header in hdrs:
        source = "_%s/%s.cc" % (name, header.replace(":", ""))
        native.genrule(
            name = source + "_copy",
            testonly = kwargs.get("testonly", False),
            srcs = [header],
            outs = [source],
            cmd = "cp $< $@",
            tags = ["manual"],
            visibility = ["//visibility:private"],
        )
        sources.append(source)
    cc_library(
        name = name,
        srcs = select({
            "//bazel:check_headers": sources,
            "//conditions:default": [],
        }),
        copts = _COPTS + copts + [
            "-O0",
            "-Wno-unused-const-variable",
            "-Wno-unused-function",
        ],
        features = _FEATURES,
        linkstatic = True,
        visibility = ["//visibility:private"],
        **kwargs
    )

def redial_cc_library(
        name,
        srcs = [],
        hdrs = [],
        deps = [],
        copts = [],
        testonly = False,
        visibility = ["//visibility:private"],
        **kwargs):
    """A library. Private to its package unless visibility says otherwise.

    Args:
      name: the name of the library.
      srcs: sources and private headers.
      hdrs: public headers; each must compile alone.
      deps: the owner of every header that srcs and hdrs include.
      copts: options after the project's.
      testonly: whether only tests may depend on it.
      visibility: who may depend on it.
      **kwargs: passed on to cc_library.
    """
    prefix = {}
    package = native.package_name()
    if hdrs and (package + "/").startswith("interceptors/"):
        prefix = {
            "include_prefix": "redial",
            "strip_include_prefix": "/interceptors",
        }
    for key, value in prefix.items():
        kwargs[key] = value
    cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = _COPTS + copts,
        features = _FEATURES,
        linkstatic = True,
        testonly = testonly,
        visibility = visibility,
        deps = deps,
        **kwargs
    )
    if hdrs:
        _header_check(
            name = name + "_header_check",
            hdrs = hdrs,
            copts = copts,
            testonly = testonly,
            deps = deps + [":" + name],
        )

def redial_cc_test(
        name,
        srcs,
        deps = [],
        copts = [],
        main = True,
        size = "small",
        **kwargs):
    """A GoogleTest program.

    Args:
      name: the name of the test.
      srcs: its sources.
      deps: the owner of every header that srcs include, except gtest's.
      copts: options after the project's.
      main: False if srcs define main().
      size: small, medium or large.
      **kwargs: passed on to cc_test.
    """
    gtest = ["@com_google_googletest//:gtest"]
    if main:
        gtest.append("@com_google_googletest//:gtest_main")
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        copts = _COPTS + copts,
        features = _FEATURES,
        linkstatic = True,
        deps = deps + [label for label in gtest if label not in deps],
        **kwargs
    )

def redial_cc_binary(name, srcs, deps = [], copts = [], **kwargs):
    """A program.

    Args:
      name: the name of the program.
      srcs: its sources.
      deps: the owner of every header that srcs include.
      copts: options after the project's.
      **kwargs: passed on to cc_binary.
    """
    cc_binary(
        name = name,
        srcs = srcs,
        copts = _COPTS + copts,
        features = _FEATURES,
        deps = deps,
        **kwargs
    )
