"""The public targets of Abseil: what each one publishes.

A key is a label below //absl; the first item of its value is the name of the
pkg-config file, the rest are its headers. Dependencies are not written here:
they are read from the pkg-config files. A target whose pkg-config file is
missing (an older or newer Abseil) is left out.
"""

ABSEIL_TARGETS = {
    "algorithm:algorithm": ["absl_algorithm", "algorithm.h"],
    "algorithm:container": ["absl_algorithm_container", "container.h"],
    "base:base": ["absl_base", "call_once.h", "casts.h"],
    "base:config": ["absl_config", "config.h", "options.h", "policy_checks.h"],
    "base:core_headers": [
        "absl_core_headers",
        "attributes.h",
        "const_init.h",
        "macros.h",
        "optimization.h",
        "port.h",
        "thread_annotations.h",
    ],
    "base:dynamic_annotations": [
        "absl_dynamic_annotations",
        "dynamic_annotations.h",
    ],
    "base:log_severity": ["absl_log_severity", "log_severity.h"],
    "cleanup:cleanup": ["absl_cleanup", "cleanup.h"],
    "container:btree": ["absl_btree", "btree_map.h", "btree_set.h"],
    "container:fixed_array": ["absl_fixed_array", "fixed_array.h"],
    "container:flat_hash_map": ["absl_flat_hash_map", "flat_hash_map.h"],
    "container:flat_hash_set": ["absl_flat_hash_set", "flat_hash_set.h"],
    "container:inlined_vector": ["absl_inlined_vector", "inlined_vector.h"],
    "container:node_hash_map": ["absl_node_hash_map", "node_hash_map.h"],
    "container:node_hash_set": ["absl_node_hash_set", "node_hash_set.h"],
    "debugging:failure_signal_handler": [
        "absl_failure_signal_handler",
        "failure_signal_handler.h",
    ],
    "debugging:leak_check": ["absl_leak_check", "leak_check.h"],
    "debugging:stacktrace": ["absl_stacktrace", "stacktrace.h"],
    "debugging:symbolize": ["absl_symbolize", "symbolize.h"],
    "flags:commandlineflag": [
        "absl_flags_commandlineflag",
        "commandlineflag.h",
    ],
    "flags:config": ["absl_flags_config", "config.h", "usage_config.h"],
    "flags:flag": ["absl_flags", "declare.h", "flag.h"],
    "flags:marshalling": ["absl_flags_marshalling", "marshalling.h"],
    "flags:parse": ["absl_flags_parse", "parse.h"],
    "flags:reflection": ["absl_flags_reflection", "reflection.h"],
    "flags:usage": ["absl_flags_usage", "usage.h"],
    "functional:any_invocable": ["absl_any_invocable", "any_invocable.h"],
    "functional:bind_front": ["absl_bind_front", "bind_front.h"],
    "functional:function_ref": ["absl_function_ref", "function_ref.h"],
    "hash:hash": ["absl_hash", "hash.h"],
    "memory:memory": ["absl_memory", "memory.h"],
    "meta:type_traits": ["absl_type_traits", "type_traits.h"],
    "numeric:bits": ["absl_bits", "bits.h"],
    "numeric:int128": [
        "absl_int128",
        "int128.h",
        "int128_have_intrinsic.inc",
        "int128_no_intrinsic.inc",
    ],
    "random:bit_gen_ref": ["absl_random_bit_gen_ref", "bit_gen_ref.h"],
    "random:distributions": [
        "absl_random_distributions",
        "bernoulli_distribution.h",
        "beta_distribution.h",
        "discrete_distribution.h",
        "distributions.h",
        "exponential_distribution.h",
        "gaussian_distribution.h",
        "log_uniform_int_distribution.h",
        "poisson_distribution.h",
        "uniform_int_distribution.h",
        "uniform_real_distribution.h",
        "zipf_distribution.h",
    ],
    "random:random": ["absl_random_random", "random.h"],
    "random:seed_gen_exception": [
        "absl_random_seed_gen_exception",
        "seed_gen_exception.h",
    ],
    "random:seed_sequences": [
        "absl_random_seed_sequences",
        "seed_sequences.h",
    ],
    "status:status": ["absl_status", "status.h", "status_payload_printer.h"],
    "status:statusor": ["absl_statusor", "statusor.h"],
    "strings:cord": [
        "absl_cord",
        "cord.h",
        "cord_analysis.h",
        "cord_buffer.h",
    ],
    "strings:str_format": ["absl_str_format", "str_format.h"],
    "strings:strings": [
        "absl_strings",
        "ascii.h",
        "charconv.h",
        "escaping.h",
        "match.h",
        "numbers.h",
        "str_cat.h",
        "str_join.h",
        "str_replace.h",
        "str_split.h",
        "string_view.h",
        "strip.h",
        "substitute.h",
    ],
    "synchronization:synchronization": [
        "absl_synchronization",
        "barrier.h",
        "blocking_counter.h",
        "mutex.h",
        "notification.h",
    ],
    "time:time": ["absl_time", "civil_time.h", "clock.h", "time.h"],
    "types:any": ["absl_any", "any.h"],
    "types:bad_any_cast": ["absl_bad_any_cast", "bad_any_cast.h"],
    "types:bad_optional_access": [
        "absl_bad_optional_access",
        "bad_optional_access.h",
    ],
    "types:bad_variant_access": [
        "absl_bad_variant_access",
        "bad_variant_access.h",
    ],
    "types:compare": ["absl_compare", "compare.h"],
    "types:optional": ["absl_optional", "optional.h"],
    "types:span": ["absl_span", "span.h"],
    "types:variant": ["absl_variant", "variant.h"],
    "utility:utility": ["absl_utility", "utility.h"],
}

_LIBRARY = """
cc_library(
    name = "{name}",
    hdrs = glob(["_{name}/**"]),
    includes = ["_{name}"],
    linkopts = {linkopts},
    deps = {deps},
)
"""

_HEAD = """load("@rules_cc//cc:cc_library.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])
"""

def _reach(start, packages, public):
    """Walks from one pkg-config package to the next public ones.

    Internal packages on the way have no target of their own: their libraries
    go to the target that needs them.

    Args:
      start: the pkg-config name to begin with.
      packages: name -> struct(requires, libs), all of them.
      public: pkg-config name -> label, of those that have a target.

    Returns:
      (labels of the public packages reached, link options).
    """
    labels = {}
    libs = {}
    seen = {start: True}
    front = [start]
    for _ in range(len(packages)):
        following = []
        for name in front:
            for lib in packages[name].libs:
                libs[lib] = True
            for need in packages[name].requires:
                if need in seen or need not in packages:
                    continue
                seen[need] = True
                if need in public:
                    labels[public[need]] = True
                else:
                    following.append(need)
        front = following
        if not front:
            break
    return sorted(labels.keys()), libs.keys()

def abseil_targets(packages):
    """Writes the BUILD files of @com_google_absl.

    Args:
      packages: pkg-config name -> struct(requires, libs), of all absl_*.pc.

    Returns:
      struct(files: path -> text, headers: folder -> what to copy into it).
    """
    public = {}
    for key, value in ABSEIL_TARGETS.items():
        if value[0] in packages:
            public[value[0]] = "//absl/" + key
    files = {"absl/BUILD.bazel": _HEAD + _LIBRARY.format(
        name = "internal",
        linkopts = [],
        deps = [],
    )}
    headers = {"absl/_internal": ["absl"]}
    for key, value in ABSEIL_TARGETS.items():
        if value[0] not in packages:
            continue
        package, name = key.split(":")
        build = "absl/%s/BUILD.bazel" % package
        labels, libs = _reach(value[0], packages, public)
        files[build] = files.get(build, _HEAD) + _LIBRARY.format(
            name = name,
            linkopts = libs,
            deps = ["//absl:internal"] + labels,
        )
        headers["absl/%s/_%s" % (package, name)] = [
            "absl/%s/%s" % (package, header)
            for header in value[1:]
        ]
    return struct(files = files, headers = headers)
