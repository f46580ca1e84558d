"""Which libraries have stand-ins, and how update_tables.py proposes what a new function of theirs does."""

from dataclasses import dataclass, field


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
    # What --public takes in where no header is read: a pattern of names.
    public_names: str = ""


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
        (r"^nvshmem(id|x)_init_status$", "ok"),
        # These return pointers or nothing.
        (r"^nvshmem_(malloc|calloc|align|free|ptr|barrier_all|sync_all|fence|quiet|global_exit|info_get_\w+|init|"
         r"(put|get)mem(_nbi)?)$|^nvshmemx_(mc_ptr|flush|\w+_on_stream|buffer_register_symmetric\w*)$", "unsupported(0)"),
    ], public_names=r"^nvshmem(x|id)?_([a-z]*mem(_\w+)?|team_\w+|(my|n)_pe(s)?|(buffer|culibrary|cumodule|hostlib|set_attr)_\w+|"
        r"init\w*|malloc|calloc|align|free|ptr|(barrier|sync|quiet|fence|flush|signal)(_[a-z]+)*|global_exit|"
        r"info_get_\w+|query_thread|get_uniqueid)$"),
    Library("cupti", "libcupti.so.13", "cupti", ["cupti.h"], [
        (r"^cupti(GetVersion|GetResultString|Subscribe)$", "by_hand"),
    ]),
]
