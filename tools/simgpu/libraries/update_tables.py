#!/usr/bin/env python3
"""The call inventory: compares the tables with what an installed PyTorch calls, and extends them.

Usage: update_tables.py SITE_PACKAGES [--write] [--public]

Prints every function of NVIDIA's libraries that PyTorch in SITE_PACKAGES links against and that no
table has, with the behaviour that the rules below propose. --write adds those lines to the tables:
read them before you commit, above all the ones that became "unsupported". --public also takes in
whatever the public headers declare, so that other programs load too. Exit status 1 if something was
missing. Needs `nm` and `g++` (for its preprocessor).
"""
import argparse
import glob
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables")


@dataclass
class Library:
    table: str
    file: str
    prefix: str
    headers: list
    # (pattern of the name, behaviour), the first match wins, else "unsupported". A behaviour may hold
    # the words SIZES (outputs that hold sizes become zero), NEW (the output that is a handle or
    # descriptor), RESULT (results on the host) and INFO (a status on the host).
    rules: list = field(default_factory=list)


LIBRARIES = [
    Library("cublas", "libcublas.so.13", "cublas", ["cublas_v2.h"], [
        (r"^cublas(Create|(Get|Set)PointerMode)_v2$", "by_hand"),
        (r"^cublasDestroy_v2$", "destroy(0)"),
        (r"^cublasSetStream_v2$", "set_stream(0, 1)"),
        (r"^cublasGetStream_v2$", "get_stream(0, 1)"),
        (r"^cublas((Get|Set)MathMode|GetVersion_v2|GetProperty|GetCudartVersion)$", "by_hand"),
        (r"^cublasGetStatus(Name|String)$", "text"),
        (r"^cublas(Set(Workspace_v2|SmCountTarget|AtomicsMode|Emulation|FixedPoint)|Logger)", "ok"),
        (r"^cublas(Get|Set)(Vector|Matrix)(Async)?$", "by_hand"),
        (r"^cublasXt|(Get|Set)(Vector|Matrix)|^cublas(Init|Shutdown|Alloc|Free|SetKernelStream)", "unsupported"),
        (r"^cublas[SDCZ](gels|getrs)Batched$", "INFO launch(handle 0)"),
        (r"(dot|nrm2|asum|rotg|rotmg|^cublasI[sdcz]am)\w*|^cublas(Dot|Dotc|Nrm2|Asum|Iamax|Iamin|Rotg)\w*Ex",
         "RESULT launch(handle 0)"),
        (r"(_v2|_v2_64|Batched|Batched_64|Ex|Ex_64|3m\w*|geam\w*|dgmm\w*|tpttr|trttp|gemm(_64)?|rkx(_64)?)$",
         "launch(handle 0)"),
    ]),
    Library("cublasLt", "libcublasLt.so.13", "cublasLt", ["cublasLt.h"], [
        (r"^cublasLt(GetVersion|GetCudartVersion|GetProperty|Matmul(AlgoGetHeuristic|AlgoCheck))$", "by_hand"),
        (r"GetAttribute$", "by_hand"),
        (r"^cublasLtGetStatus(Name|String)$", "text"),
        (r"Logger|SetAttribute$|Init_internal$|AlgoInit$|HeuristicsCacheSetCapacity$", "ok"),
        (r"Create$", "NEW"),
        (r"Destroy$", "destroy(0)"),
        (r"^cublasLtMatmul$", "launch(stream 15)"),
        (r"^cublasLtMatrixTransform$", "launch(stream 11)"),
    ]),
    Library("cudnn", "libcudnn.so.9", "cudnn", ["cudnn.h"], [
        (r"^cudnnSetStream$", "set_stream(0, 1)"),
        (r"^cudnnGetStream$", "get_stream(0, 1)"),
        (r"^cudnnGet(Version|CudartVersion|Property|ErrorString|LastErrorString)$", "by_hand"),
        (r"^cudnnBackend(Initialize|PopulateCudaGraph|UpdateCudaGraph)", "unsupported"),
        (r"^cudnnBackendDestroyDescriptor$", "destroy(0)"),
        (r"^cudnnBackend", "by_hand"),
        (r"^cudnn(Create|[GS]et)(Tensor|Filter)(Nd)?Descriptor$|^cudnn(Create|Set)RNNDataDescriptor$|"
         r"^cudnnCreateRNNDescriptor$", "by_hand"),
        (r"^cudnn(SetRNNDescriptor_v8|GetRNN(WeightSpaceSize|WeightParams|TempSpaceSizes))$", "by_hand"),
        (r"^cudnn(Get|Find)Convolution\w+Algorithm(_v7|Ex)$|^cudnnDropoutGetStatesSize$", "by_hand"),
        (r"^cudnnConvolution(Forward|BackwardData|BackwardFilter|BiasActivationForward)$", "by_hand"),
        (r"SizeInBytes$|RNNGetClip", "unsupported"),
        (r"Create", "NEW"),
        (r"Destroy", "destroy(0)"),
        (r"(WorkspaceSize(_v8)?|ReserveSpaceSize)$", "SIZES"),
        (r"^cudnnSet|^cudnnRestoreDropout|RNNSetClip|Check$", "ok"),
        (r"^cudnn(Batch|Norm|Pooling|RNN|CTCLoss|SpatialTf|Softmax|Activation|Dropout|LRN|Op|Add|Reduce|Scale|"
         r"Transform|ConvolutionBackwardBias|DivisiveNorm|MultiHeadAttn)\w*", "launch(handle 0)"),
    ]),
    Library("cusparse", "libcusparse.so.12", "cusparse", ["cusparse.h"], [
        (r"zeroPivot$", "by_hand"),
        (r"^cusparseGetError(Name|String)$", "text"),
        (r"^cusparse(GetStream)$", "get_stream(0, 1)"),
        (r"^cusparse(SetStream)$", "set_stream(0, 1)"),
        # How many entries the result has is known only after the computation.
        (r"SpMMOp|SpGEMM_(workEstimation|compute|copy|estimateMemory|getNumProducts)|SpGEMMreuse_|csrgeam2|Nnz|nnz",
         "unsupported"),
        (r"^cusparseCreateIdentityPermutation$", "launch(handle 0)"),
        (r"[cC]reate", "NEW"),
        (r"[dD]estroy", "destroy(0)"),
        (r"bufferSize", "SIZES"),
        (r"^cusparse(Csr|Csc|Coo|SpMat|DnMat|DnVec|SpVec|BlockedEll)?Set|Logger", "ok"),
        (r"Sp(MM|MV|SV|SM)(Op)?(_|$)|SDDMM|bsr(mm|mv|sv2|sm2)|coo2csr|csr2coo|sort|gtsv2|gthr|axpby|Axpby|Gather|Scatter|"
         r"SparseToDense|DenseToSparse_(analysis|convert)|Csr2cscEx2$|gemvi$|gpsv", "launch(handle 0)"),
    ]),
    Library("cusparseLt", "libcusparseLt.so.0", "cusparseLt", ["cusparseLt.h"], [
        (r"^cusparseLtGetError(Name|String)$", "text"),
    ]),
    Library("cufft", "libcufft.so.12", "cufft", ["cufftXt.h"], [
        (r"^cufft(Create|Destroy|SetStream|XtExec|Exec\w+|GetVersion|GetProperty)$", "by_hand"),
        (r"^cufft(Plan1d|Plan2d|Plan3d|PlanMany)$", "by_hand"),
        (r"^cufft(MakePlan\w+|XtMakePlanMany|GetSize\w*|XtGetSizeMany|Estimate\w+)$", "SIZES"),
        (r"^cufftSet(AutoAllocation|WorkArea)$", "ok"),
    ]),
    Library("cusolver", "libcusolver.so.12", "cusolver", ["cusolverDn.h"], [
        (r"^cusolverDnGetStream$", "get_stream(0, 1)"),
        (r"^cusolverDnSetStream$", "set_stream(0, 1)"),
        (r"IRS|^cusolver(Sp|Rf|Mg)|^cusolverDn[A-Z]{2}ge(sv|ls)(_|$)|GetResidual|GetSweeps", "unsupported"),
        (r"Xgesvdp$|Xpolar$", "unsupported"),  # error bounds on the host
        (r"gesvdaStridedBatched$", "zero8_array(19, 20) launch(handle 0)"),  # residuals on the host
        (r"^cusolverDnCreate", "NEW"),
        (r"^cusolverDnDestroy", "destroy(0)"),
        (r"[bB]ufferSize$", "SIZES"),
        (r"^cusolverDn(X?\w+Set[A-Z]\w+|Set\w+|Logger\w+)$", "ok"),
        (r"^cusolverDn([SDCZ]|X)[a-z]", "launch(handle 0)"),
    ]),
    Library("nccl", "libnccl.so.2", "nccl", ["nccl.h"], [
        (r"^nccl(All(Reduce|Gather|toAll)|AlltoAll|Broadcast|Bcast|Reduce|ReduceScatter|Gather|Scatter|Send|Recv)$", "by_hand"),
        (r"^nccl(Group(Start|End)|Get(Version|UniqueId|ErrorString|LastError)|Mem(Alloc|Free))$", "by_hand"),
        (r"^ncclCommInit(Rank|RankConfig|RankScalable|All)$", "by_hand"),
        (r"^ncclComm(Count|UserRank|CuDevice|GetAsyncError|Register)$", "by_hand"),
        (r"^ncclComm(Destroy|Abort)$", "destroy(0)"),
        (r"^ncclRedOp(CreatePreMulSum)$", "by_hand"),
        (r"^nccl(CommFinalize|RedOpDestroy|CommDeregister)$", "ok"),
    ]),
    Library("nvshmem_host", "libnvshmem_host.so.3", "nvshmem", [], [
        (r"^nvshmemid_init_status$", "ok"),
        # These return pointers or nothing.
        (r"^nvshmem_(malloc|free|ptr|barrier_all|info_get_version|init)$|^nvshmemx_mc_ptr$", "unsupported(0)"),
    ]),
    Library("cupti", "libcupti.so.13", "cupti", ["cupti.h"], [
        (r"^cupti(GetVersion|GetResultString|Subscribe)$", "by_hand"),
    ]),
]

SIZE_OUTPUT = re.compile(
    r"(?i)^p?(lwork|buffer_?size\w*|pBufferSize\w*|workspace(InBytes|size)\w*|work_?size\w*|workArea|sizeInBytes\w*|"
    r"reserveSpaceSize\w*)$"
)
# What x86-64 passes in other than general registers: it does not count as an argument here.
FLOATING_POINT = {"float", "double", "cuComplex", "cuDoubleComplex", "cufftReal", "cufftComplex"}
SCALAR_BYTES = {"int": 4, "float": 4, "double": 8, "int64_t": 8, "cuComplex": 8, "cuDoubleComplex": 16}


@dataclass
class Parameter:
    type: str  # without the asterisk of a pointer
    name: str
    pointer: bool
    writable: bool


def symbols(path, which):
    output = subprocess.run(["nm", "-D", which, path], capture_output=True, text=True, check=True).stdout
    return {re.split("@", line.split()[-1])[0] for line in output.splitlines()}


def linked_by_pytorch(site_packages):
    linked = set()
    for path in glob.glob(f"{site_packages}/torch/lib/*.so") + glob.glob(f"{site_packages}/torch/*.so"):
        linked |= symbols(path, "--undefined-only")
    return linked


def parse_parameters(text):
    parameters = []
    for declaration in text.split(","):
        match = re.fullmatch(r"\s*(.*?)([\s*]+)(?:const\s+|__restrict__\s+)?(\w+)\s*((?:\[\w*\])*)\s*", declaration, re.S)
        if not match or declaration.strip() == "void":
            continue
        type_text, stars, name, brackets = match.groups()
        pointer = "*" in stars or bool(brackets)
        bare = re.sub(r"\b(const|struct|enum)\b", "", type_text).strip()
        if not pointer and bare in FLOATING_POINT:
            continue
        parameters.append(Parameter(bare, name, pointer, pointer and not re.search(r"\bconst\b", type_text)))
    return parameters


def prototypes(library, site_packages):
    """Name -> parameters, of what the library's public headers declare."""
    if not library.headers:
        return {}
    folders = glob.glob(f"{site_packages}/nvidia/*/include") + ["/usr/local/cuda/include"]
    source = "".join(f"#include <{header}>\n" for header in library.headers)
    command = ["g++", "-E", "-P", "-x", "c++", "-"] + [f"-I{folder}" for folder in folders]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    found = {}
    for name, parameters in re.findall(rf"\b({library.prefix}\w+)\s*\(([^(){{}};]*)\)\s*;", text):
        found.setdefault(name, parse_parameters(parameters))
    return found


def indexes(parameters, wanted):
    return [(index, p) for index, p in enumerate(parameters) if p.writable and wanted(p)]


def sizes(parameters):
    found = indexes(parameters, lambda p: SIZE_OUTPUT.match(p.name) and p.type in ("int", "size_t", "int64_t"))
    return [f"zero{4 if p.type == 'int' else 8}({index})" for index, p in found] or ["unsupported"]


def new_object(parameters):
    found = indexes(parameters, lambda p: re.search(r"(_t|Info_t|Descr_t|\*)$", p.type) and p.type != "size_t")
    return [f"create({found[0][0]})"] if found else ["unsupported"]


def host_results(parameters):
    type_index = next((i for i, p in enumerate(parameters) if p.name in ("resultType", "csType")), None)
    words = []
    for index, parameter in indexes(parameters, lambda p: p.name in ("result", "c", "s", "param")):
        if parameter.type == "void":
            words.append(f"typed_host_result({index}, {type_index})")
        else:
            values = 5 if parameter.name == "param" else 1  # rotmg's describes the rotation
            words.append(f"host_result({index}, {values * SCALAR_BYTES[parameter.type]})")
    return words


def host_info(parameters):
    return [f"zero4({index})" for index, _ in indexes(parameters, lambda p: p.name == "info")]


PLACEHOLDERS = {"SIZES": sizes, "NEW": new_object, "RESULT": host_results, "INFO": host_info}


def propose(library, name, parameters):
    behaviour = next((b for pattern, b in library.rules if re.search(pattern, name)), "unsupported")
    words = []
    for word in re.findall(r"\w+\([^)]*\)|\w+", behaviour):
        words += PLACEHOLDERS[word](parameters) if word in PLACEHOLDERS else [word]
    return " ".join(words) or "ok"


def read_table(path):
    """The lines that are not functions, and name -> behaviour."""
    head, table = [], {}
    with open(path) as file:
        for line in file:
            if not line.strip() or line[0] in "#@":
                head.append(line)
            else:
                name, behaviour = line.split(None, 1)
                table[name] = behaviour.strip()
    return head, table


def write_table(path, head, table):
    width = max(len(name) for name in table)
    with open(path, "w") as file:
        file.writelines(head)
        for name in sorted(table):
            file.write(f"{name:{width}}  {table[name]}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site_packages")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--public", action="store_true")
    arguments = parser.parse_args()

    linked = linked_by_pytorch(arguments.site_packages)
    missing = 0
    for library in LIBRARIES:
        paths = glob.glob(f"{arguments.site_packages}/nvidia/*/lib/{library.file}")
        if not paths:
            sys.exit(f"update_tables.py: no {library.file} in {arguments.site_packages}: install torch there with pip")
        exported = {name for name in symbols(paths[0], "--defined-only") if name.startswith(library.prefix)}
        declared = prototypes(library, arguments.site_packages)
        wanted = exported & linked
        if arguments.public:
            wanted |= exported & set(declared)

        path = os.path.join(TABLES, library.table + ".txt")
        head, table = read_table(path)
        new = {name: propose(library, name, declared.get(name, [])) for name in sorted(wanted - set(table))}
        missing += len(new)
        for name, behaviour in new.items():
            print(f"{library.table}: {name}  {behaviour}")
        if arguments.write and new:
            write_table(path, head, table | new)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
