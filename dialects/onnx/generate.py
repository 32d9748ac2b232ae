#!/usr/bin/env python3
"""Writes OnnxOps.td and OpTable.inc from the operator schemas of the Python package onnx.

usage: generate.py [--check]     (--check: exit with 1 when the committed files differ)

One typed op per operator at its newest version, plus the com.microsoft operators of contrib_ops.py. The output is
committed: building optc needs no Python package. Type constraints are bit masks (see allowed() in Types.h), so that
an op costs little C++.
"""
import os
import re
import sys

import onnx
from onnx import TensorProto, defs

from contrib_ops import CONTRIB_OPS

PINNED = "1.23.2"
HERE = os.path.dirname(os.path.abspath(__file__))

# ONNX domain -> (prefix of the mnemonic, prefix of the C++ class).
DOMAINS = {
    "": ("", ""),
    "ai.onnx.ml": ("ml.", "ML"),
    "ai.onnx.preview": ("preview.", "Preview"),
    "ai.onnx.preview.training": ("preview.", "Preview"),
    "com.microsoft": ("ms.", "MS"),
}
# Written by hand in Onnx.td; they are in OpTable.inc all the same.
HAND_WRITTEN = {"Constant"}
# Deprecated, but still what converters write and without a one-to-one replacement.
KEPT_DEPRECATED = {"TreeEnsembleClassifier", "TreeEnsembleRegressor"}
# Each call draws anew: not merged, but removed when unused.
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli", "Dropout"}
# Bits of a type mask: 1 << TensorProto.DataType for tensors, and these.
SEQ, OPT, OPT_SEQ, MAP, SEQ_MAP = (1 << b for b in (48, 49, 50, 51, 52))
# Names whose accessor would hide a method of mlir::Operation.
RESERVED = {"operands", "results", "name", "loc", "region", "operation", "attrs", "context"}

ATTR_DEF = {"INT": "I64Attr", "FLOAT": "F32Attr", "STRING": "StrAttr", "INTS": "DenseI64ArrayAttr",
            "FLOATS": "DenseF32ArrayAttr", "STRINGS": "StrArrayAttr", "TENSOR": "ElementsAttr",
            "SPARSE_TENSOR": "ElementsAttr", "TYPE_PROTO": "TypeAttr"}
ATTR_KIND = {"INT": "Int", "FLOAT": "Float", "STRING": "String", "INTS": "Ints", "FLOATS": "Floats", "STRINGS": "Strings",
             "TENSOR": "Tensor", "SPARSE_TENSOR": "SparseTensor", "GRAPH": "Graph", "TYPE_PROTO": "Type"}

DTYPES = {"float": "FLOAT", "double": "DOUBLE", "bool": "BOOL", "string": "STRING"}
ALL_TENSORS = sum(1 << TensorProto.DataType.Value(n) for n in TensorProto.DataType.keys() if n != "UNDEFINED")


class Value:
    """An input or output: name, 'Single'|'Optional'|'Variadic', type mask, type variable or None, homogeneous, min arity."""

    def __init__(self, name, option, types, var=None, homogeneous=True, min_arity=1):
        self.name, self.option, self.types, self.var = name, option, types, var
        self.homogeneous, self.min_arity = homogeneous, min_arity


class Attr:
    """An attribute: name, ONNX kind, required, default value or None."""

    def __init__(self, name, kind, required=False, default=None):
        self.name, self.kind, self.required, self.default = name, kind, required, default


class Op:
    def __init__(self, domain, name, since, inputs, outputs, attributes, function=False):
        self.domain, self.name, self.since, self.function = domain, name, since, function
        self.inputs, self.outputs = inputs, outputs
        # The order of the regions of If is that of the ONNX specification's text, not the alphabet's.
        self.attributes = sorted(attributes, key=lambda a: (a.name != "then_branch", a.name))
        mnemonic, cls = DOMAINS[domain]
        self.mnemonic, self.cls = mnemonic + name, cls + name + "Op"

    def graphs(self):
        return [a for a in self.attributes if a.kind == "GRAPH"]

    @staticmethod
    def segmented(values):
        return sum(v.option != "Single" for v in values) > 1


def type_mask(types):
    mask = 0
    for t in types:
        m = re.fullmatch(r"tensor\((\w+)\)", t)
        if m:
            mask |= 1 << TensorProto.DataType.Value(DTYPES.get(m[1], m[1].upper()))
        elif t.startswith("seq(map"):
            mask |= SEQ_MAP
        elif t.startswith("seq("):
            mask |= SEQ
        elif t.startswith("optional(seq"):
            mask |= OPT_SEQ
        elif t.startswith("optional("):
            mask |= OPT
        elif t.startswith("map("):
            mask |= MAP
        else:
            sys.exit(f"unknown type string {t}")
    return mask


def from_schema(s):
    variables = {c.type_param_str for c in s.type_constraints}

    def values(parameters, lowest):
        single = sum(p.option.name == "Single" for p in parameters)
        return [Value(p.name, p.option.name, type_mask(p.types), p.type_str if p.type_str in variables else None,
                      p.is_homogeneous, max(lowest - single, 0)) for p in parameters]

    def attribute(a):
        default = None
        if a.default_value.type:
            default = onnx.helper.get_attribute_value(a.default_value)
        return Attr(a.name, a.type.name, a.required, default)

    return Op(s.domain, s.name, s.since_version, values(s.inputs, s.min_input), values(s.outputs, s.min_output),
              [attribute(a) for a in s.attributes.values()], s.has_function or s.has_context_dependent_function)


def from_contrib(name, inputs, outputs, attributes, variables):
    def value(text):
        m = re.fullmatch(r"(\w+)([?*]?):(\w+)", text)
        option = {"": "Single", "?": "Optional", "*": "Variadic"}[m[2]]
        types = variables.get(m[3]) or [m[3]]
        mask = ALL_TENSORS if types == ["any"] else type_mask([f"tensor({t})" for t in types])
        return Value(m[1], option, mask, m[3] if m[3] in variables else None, m[3] != "any", 0)

    def attribute(text):
        m = re.fullmatch(r"(\w+)(!?):(\w+)(?:=(.*))?", text)
        default = m[4]
        if default is not None and m[3] != "STRING":
            default = float(default) if m[3] == "FLOAT" else int(default)
        return Attr(m[1], m[3], bool(m[2]), default)

    return Op("com.microsoft", name, 1, [value(v) for v in inputs.split()], [value(v) for v in outputs.split()],
              [attribute(a) for a in attributes.split()])


def collect():
    newest = {}
    for s in defs.get_all_schemas_with_history():
        if s.domain not in DOMAINS or (s.deprecated and s.name in KEPT_DEPRECATED):
            continue
        key = (s.domain, s.name)
        if key not in newest or newest[key].since_version < s.since_version:
            newest[key] = s
    ops = [from_schema(s) for s in newest.values() if not s.deprecated]
    ops += [from_contrib(*entry) for entry in CONTRIB_OPS]
    return sorted(ops, key=lambda o: (list(DOMAINS).index(o.domain), o.name))


def describe(mask):
    """Text of a type constraint, for messages of the verifier."""
    names = [n.lower() for n, v in sorted(TensorProto.DataType.items(), key=lambda x: x[1]) if v and mask >> v & 1]
    parts = []
    if mask & ALL_TENSORS == ALL_TENSORS:
        parts.append("tensor")
    elif names:
        absent = [n.lower() for n, v in TensorProto.DataType.items() if v and not mask >> v & 1]
        parts.append("tensor of any type but " + " ".join(absent) if len(absent) < 8 else "tensor of " + " ".join(names))
    parts += [t for b, t in ((SEQ, "sequence"), (OPT, "optional tensor"), (OPT_SEQ, "optional sequence"), (MAP, "map"),
                             (SEQ_MAP, "sequence of maps")) if mask & b]
    return " or ".join(parts)


def camel(name):
    return "".join(p[:1].upper() + p[1:] for p in name.split("_"))


def default_text(a):
    if a.default is None or a.kind not in ("INT", "FLOAT", "STRING"):
        return None
    if a.kind == "INT":
        return str(int(a.default))
    if a.kind == "FLOAT":
        return repr(float("%.9g" % a.default)) + "f"
    text = a.default.decode() if isinstance(a.default, bytes) else a.default
    return '\\"%s\\"' % text


def attr_text(a):
    base, default = ATTR_DEF[a.kind], default_text(a)
    if a.required:
        return base
    return f'DefaultValuedOptionalAttr<{base}, "{default}">' if default is not None else f"OptionalAttr<{base}>"


def td_op(op, constraints):
    taken = {camel(a.name) for a in op.attributes}

    def constraint(mask):
        return constraints.setdefault(mask, f"Onnx_T{len(constraints)}")

    def field(v, random=False):
        name = v.name
        while camel(name) in taken or name in RESERVED:
            name += "_"
            if camel(name) in taken:
                name += "v"
        taken.add(camel(name))
        text = constraint(v.types)
        if v.option != "Single":
            text = f"{v.option}<{text}>"
        if random:
            text = f'Res<{text}, "", [MemAlloc]>'
        return f"{text}:${name}"

    random = op.name in RANDOM and op.domain == ""
    args = [field(v) for v in op.inputs] + [f"{attr_text(a)}:${a.name}" for a in op.attributes if a.kind != "GRAPH"]
    results = [field(v, random) for v in op.outputs]
    regions = [f"{'AnyRegion' if not a.required else 'SizedRegion<1>'}:${a.name}" for a in op.graphs()]
    traits = []
    if op.segmented(op.inputs):
        traits.append("AttrSizedOperandSegments")
    if op.segmented(op.outputs):
        traits.append("AttrSizedResultSegments")
    if regions:
        traits += ["SingleBlock", "RecursiveMemoryEffects", "RecursivelySpeculatable"]
    elif random:
        traits.append("MemoryEffects<[]>")
    else:
        traits.append("Pure")
    lines = [f'def Onnx_{op.cls} : Onnx_Op<"{op.mnemonic}", [{", ".join(traits)}]> {{']
    if args:
        lines.append("  let arguments = (ins %s);" % ", ".join(args))
    if results:
        lines.append("  let results = (outs %s);" % ", ".join(results))
    if regions:
        lines.append("  let regions = (region %s);" % ", ".join(regions))
        lines.append("  let hasRegionVerifier = 1;")
    return lines + ["}"]


HEADER = f"// Written by generate.py from the schemas of onnx {PINNED}; do not edit.\n"


def write_td(ops):
    constraints, body = {}, []
    for op in ops:
        if op.name not in HAND_WRITTEN:
            body += td_op(op, constraints)
    head = [HEADER, '#ifndef OPTC_ONNX_OPS\n#define OPTC_ONNX_OPS\ninclude "Onnx.td"\n']
    for mask, name in constraints.items():
        head.append(f'def {name} : Onnx_Type<"0x{mask:x}", "{describe(mask)}">;')
    return "\n".join(head) + "\n\n" + "\n".join(body) + "\n\n#endif\n"


def write_table(ops):
    """One line per op: OP(domain, name, mnemonic, since, segments, function, inputs..., outputs..., attributes...)."""
    lines = [HEADER]

    def text(b):
        return "true" if b else "false"

    def values(name, vs):
        if not vs:
            return
        variables = sorted({v.var for v in op.inputs + op.outputs if v.var})
        entries = [f'{{"{v.name}", Arity::{v.option}, {text(v.homogeneous)}, {v.min_arity if v.option == "Variadic" else 0}, '
                   f'{variables.index(v.var) if v.var else -1}, 0x{v.types:x}ULL}}' for v in vs]
        lines.append(f"static const ValueInfo {name}[] = {{{', '.join(entries)}}};")

    rows = []
    for i, op in enumerate(ops):
        values(f"in{i}", op.inputs)
        values(f"out{i}", op.outputs)
        if op.attributes:
            entries = [f'{{"{a.name}", AttrKind::{ATTR_KIND[a.kind]}, {text(a.required)}}}' for a in op.attributes]
            lines.append(f"static const AttrInfo attr{i}[] = {{{', '.join(entries)}}};")
        refs = ", ".join(f"{p}{i}" if x else "{}" for p, x in
                         (("in", op.inputs), ("out", op.outputs), ("attr", op.attributes)))
        rows.append(f'  {{"{op.domain}", "{op.name}", "onnx.{op.mnemonic}", {op.since}, {refs}, '
                    f"{text(op.segmented(op.inputs))}, {text(op.segmented(op.outputs))}, {text(op.function)}}},")
    lines.append("static const OpInfo allOps[] = {")
    return "\n".join(lines + rows) + "\n};\n"


def main():
    if onnx.__version__ != PINNED:
        sys.exit(f"generate.py needs onnx {PINNED}, found {onnx.__version__}: pip install onnx=={PINNED}")
    ops = collect()
    stale = False
    for name, content in (("OnnxOps.td", write_td(ops)), ("OpTable.inc", write_table(ops))):
        path = os.path.join(HERE, name)
        if "--check" in sys.argv[1:]:
            same = os.path.exists(path) and open(path).read() == content
            if not same:
                print(f"{name} is stale: run generate.py")
            stale |= not same
        else:
            with open(path, "w") as f:
                f.write(content)
            print(f"{name}: {len(ops)} operators")
    return stale


if __name__ == "__main__":
    sys.exit(main())
