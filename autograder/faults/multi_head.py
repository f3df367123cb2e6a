"""Wrong multi-head attentions: each fault is a switch at the line where it bites."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from autograder.faults.family import NONE, Family, Fault, Faults, Probe, Same

SPLIT_WITHOUT_THE_SWAP = Fault(
    "split_without_the_swap",
    place="split layout",
    en="The features are viewed as (n_heads, seq, d_head) at once, without swapping two axes, so a head gets "
    "whole positions and not its slice of every position. In which order do the numbers lie in memory?",
    zh="直接把特征看成 (n_heads, seq, d_head)，没有交换两个轴，于是每个头拿到的是几个完整的位置，而不是每个位置上"
    "属于自己的那一段。这些数在内存里是按什么顺序排的？",
    seen_in=("reczoo/FuxiCTR#30", "hyunwoongko/transformer#15", "bentrevett/pytorch-seq2seq#148"),
)
WIDTH_TAKEN_FOR_THE_NUMBER = Fault(
    "width_taken_for_the_number",
    place="split layout",
    en="`n_heads` is taken for the width of a head: the number of heads and their width are exchanged. What do "
    "512 features make with n_heads = 8?",
    zh="把 `n_heads` 当成了每个头的宽度：头的个数和宽度弄反了。512 个特征、n_heads = 8 时，应该分成几个头，每个多宽？",
)
SPLIT_OF_BATCHES_ONLY = Fault(
    "split_of_batches_only",
    place="split dimensions",
    en="Splitting works for three dimensions only. Which axes have to be named, and which may be however many "
    "there are?",
    zh="拆分只能处理三维的输入。哪些轴需要指名，哪些轴有多少个都可以？",
)
REST_OF_THE_FEATURES_DROPPED = Fault(
    "rest_of_the_features_dropped",
    place="split refusal",
    en="Where the features do not divide by the number of heads, `split_heads` drops those left over and says "
    "nothing. What should it do with 10 features and 3 heads?",
    zh="特征数不能被头数整除时，`split_heads` 一声不响地丢掉多出来的特征。10 个特征、3 个头，应该怎么办？",
    seen_in=("keras-team/keras-hub#1198",),
)
MERGED_WITHOUT_THE_SWAP = Fault(
    "merged_without_the_swap",
    place="merge layout",
    en="The heads are merged by reshaping alone, so that one row mixes several positions. Which axis must stand "
    "beside d_head before the two become one?",
    zh="合并各个头时只改了形状，结果一行里混进了好几个位置。两个轴合成一个之前，紧挨着 d_head 的应该是哪个轴？",
    seen_in=("jsbaan/transformer-from-scratch#6", "ajhalthor/Transformer-Neural-Network#4", "meta-pytorch/opacus#825"),
)
MERGE_OF_BATCHES_ONLY = Fault(
    "merge_of_batches_only",
    place="merge dimensions",
    en="Merging works for four dimensions only. Which axes have to be named, and which may be however many there are?",
    zh="合并只能处理四维的输入。哪些轴需要指名，哪些轴有多少个都可以？",
)
CONSTRUCTOR_NOT_CHECKED = Fault(
    "constructor_not_checked",
    place="constructor refusal",
    en="A d_model that does not divide by n_heads is accepted when the module is made, and shows at the first "
    "call at the earliest. When should a mistake in the configuration come to light?",
    zh="d_model 不能被 n_heads 整除时，模块照样造了出来，最早也要到第一次调用才会露馅。配置上的错误应该在什么时候"
    "发现？",
    seen_in=("pytorch/pytorch#28719", "Pang-Yatian/Point-MAE#24"),
)
BIAS_ARGUMENT_IGNORED = Fault(
    "bias_argument_ignored",
    place="bias argument",
    en="All four layers have a bias even with `bias=False`. Who passes that argument on?",
    zh="即使 `bias=False`，四个线性层也都带着偏置。这个参数应该传给谁？",
    seen_in=("pytorch/pytorch#97128",),
)
LAYERS_COPIED_AT_THE_FIRST_CALL = Fault(
    "layers_copied_at_the_first_call",
    place="copied layers",
    en="What is loaded or learned after the first call has no effect: weights and biases were copied then, to "
    "stack them into one matrix, say. When does such a copy go out of date?",
    zh="第一次调用之后再加载或训练出的参数都不起作用：那时把权重和偏置复制了一份（比如为了拼成一个大矩阵），以后一"
    "直用它。这样的副本什么时候会过期？",
)
WEIGHT_MATRIX_TURNED = Fault(
    "weight_matrix_turned",
    place="weight matrix",
    en="The weight matrices of the layers are used the other way round, x W instead of x times W transposed. As "
    "they are square, nothing complains: what does `nn.Linear` calculate?",
    zh="线性层的权重矩阵用反了：算的是 x 乘 W，而不是 x 乘 W 的转置。矩阵是方阵，所以不会报错：`nn.Linear` 究竟算"
    "的是什么？",
    seen_in=("rasbt/LLMs-from-scratch#857", "skyzh/tiny-llm#41"),
)
BIASES_FORGOTTEN = Fault(
    "biases_forgotten",
    place="biases",
    en="The layers multiply by their weights but never add their biases. Why does this stay unnoticed while the "
    "biases are 0?",
    zh="线性层只乘了权重，没有加上偏置。为什么偏置都是 0 的时候看不出来？",
    seen_in=("pytorch/pytorch#97128",),
)
QUERY_AND_KEY_LAYERS_SWAPPED = Fault(
    "query_and_key_layers_swapped",
    place="query and key layers",
    en="The queries go through `k_proj` and the keys through `q_proj`. Without biases the scores of a "
    "self-attention would only be transposed: which row belongs to whom?",
    zh="query 走了 `k_proj`，key 走了 `q_proj`。没有偏置的自注意力里，这样做等于把分数矩阵转置了：哪一行是谁的？",
)
KEYS_THROUGH_THE_QUERY_LAYER = Fault(
    "keys_through_the_query_layer",
    place="query and key layers",
    en="The keys go through `q_proj` as the queries do, and `k_proj` is never used. Why does attention need two "
    "projections here?",
    zh="key 和 query 一样走了 `q_proj`，`k_proj` 从来没有用到。为什么这里需要两个不同的投影？",
)
VALUES_THROUGH_THE_KEY_LAYER = Fault(
    "values_through_the_key_layer",
    place="value layer",
    en="The values go through `k_proj`, and `v_proj` is never used. What is found by the keys need not be what is "
    "handed over.",
    zh="value 走了 `k_proj`，`v_proj` 从来没有用到。用来“被找到”的内容，和真正交出去的内容不必相同。",
)
OUTPUT_NOT_PROJECTED = Fault(
    "output_not_projected",
    place="output layer",
    en="The merged heads are returned without going through `out_proj`. What mixes the results of the heads?",
    zh="各个头合并之后直接返回，没有经过 `out_proj`。各个头的结果靠什么混合起来？",
)
KEY_DEFAULTS_TO_THE_VALUE = Fault(
    "key_defaults_to_the_value",
    place="default of the key",
    en="Where only a value is given, the keys are made from it; they should come from the query. Which default "
    "does the exercise name?",
    zh="只给了 value 时，key 用的是它，而不是 query。题目规定的默认值是哪一个？",
)
VALUE_IGNORED = Fault(
    "value_ignored",
    place="value argument",
    en="The values are made from the key even where another value is given. Is what is compared always what is "
    "averaged?",
    zh="即使另外给了 value，用的也还是 key。拿来比较的东西，一定就是拿来求平均的东西吗？",
)
DEFAULTS_WITHOUT_GRADIENT = Fault(
    "defaults_without_gradient",
    place="gradient of the defaults",
    en="Where the key is left out, a copy of the query without gradient stands in, so in self-attention only part "
    "of the gradient arrives. Does a tensor have to be copied to be used three times?",
    zh="没给 key 时，用的是 query 的一个断开了梯度的副本，所以自注意力里只有一部分梯度能传回来。同一个张量要用三次"
    "，需要复制吗？",
)
WEIGHTS_DETACHED = Fault(
    "weights_detached",
    place="gradient of the weights",
    en="The weights leave the graph (`detach`, `.data` or a trip through NumPy), so nothing flows back to queries "
    "and keys, and their layers do not learn. By which way does a gradient reach `q_proj`?",
    zh="权重脱离了计算图（`detach`、`.data`，或者绕道 NumPy），梯度传不回 query 和 key，它们的投影也就学不到东西。"
    "梯度要经过哪条路才能到达 `q_proj`？",
    seen_in=("r9y9/tacotron_pytorch#16",),
)
NO_SCALE = Fault(
    "no_scale",
    place="scale",
    en="The scores are not divided by anything. How does the size of a dot product grow with the number of features?",
    zh="分数没有除以任何数。特征越多，点积的大小会怎样变？",
    seen_in=("delzac/cntkx#10", "PAIR-code/tiny-transformers#71"),
)
ROOT_OF_THE_WHOLE_WIDTH = Fault(
    "root_of_the_whole_width",
    place="scale",
    en="The scores are divided by the root of d_model. How many features does the dot product of one head add up?",
    zh="分数除以的是 d_model 的平方根。一个头的点积里加起来的有几个特征？",
    seen_in=(
        "lucidrains/vit-pytorch#65",
        "Graylab/DL4Proteins-notebooks#12",
        "omihub777/ViT-CIFAR#11",
        "karpathy/ng-video-lecture#28",
    ),
)
NORMALISED_OVER_THE_QUERIES = Fault(
    "normalised_over_the_queries",
    place="softmax axis",
    en="The softmax runs over the queries, so it is the columns of the weights that sum to 1. Who shares out the "
    "attention, the query or the key?",
    zh="softmax 是沿着查询的轴做的，所以和为 1 的是权重矩阵的列。分配注意力的是查询还是 key？",
)
NORMALISED_OVER_THE_HEADS = Fault(
    "normalised_over_the_heads",
    place="softmax axis",
    en="The softmax runs over the heads, as if they competed for a key. Every head has a distribution of its own: "
    "along which axis?",
    zh="softmax 是沿着头的轴做的，好像各个头在争同一个 key。每个头都有自己的分布：它沿哪个轴？",
    seen_in=("jadore801120/attention-is-all-you-need-pytorch#52", "PetrochukM/PyTorch-NLP#2"),
)
SEQUENCE_TAKEN_FOR_THE_BATCH = Fault(
    "sequence_taken_for_the_batch",
    place="batch axis",
    en="The first axis is taken for the sequence and the second for the batch, so the sequences of a batch read "
    "each other. Which order has the input here?",
    zh="把第一个轴当成了序列，第二个轴当成了 batch，结果同一批里的不同序列在互相读。这里的输入是什么顺序？",
    seen_in=("pytorch/pytorch#122959",),
)
QUERY_VIEWED = Fault(
    "query_viewed",
    place="memory layout",
    en="A query whose numbers do not lie in memory in the order of its axes, as after a transposition, ends in an "
    "error: `view` cannot flatten it. Which operation copies where it has to?",
    zh="query 经过转置之类的操作后，在内存里不再按轴的顺序排列，这时会报错：`view` 没法把它展平。哪个操作会在需要"
    "时自动复制？",
    seen_in=("facebookresearch/fairseq#2598", "NVIDIA/Megatron-LM#875"),
)
MASK_READ_THE_OTHER_WAY_ROUND = Fault(
    "mask_read_the_other_way_round",
    place="mask polarity",
    en="True is read as blocked. In this course True means that the query may read the key; "
    "`nn.MultiheadAttention` has it the other way round.",
    zh="把 True 理解成了“遮住”。本课程里 True 表示这个查询可以读这个 key，`nn.MultiheadAttention` 的约定正好相反。",
    seen_in=("rasbt/LLMs-from-scratch#1061", "pytorch/pytorch#170415"),
)
MASK_WITHOUT_EFFECT = Fault(
    "mask_without_effect",
    place="mask use",
    en="The mask changes nothing: it is never used, or the result of `masked_fill` is thrown away. Does that "
    "method change its tensor or return another?",
    zh="遮罩完全没有起作用：要么没用到，要么 `masked_fill` 的结果被丢掉了。"
    "这个方法是修改原来的张量，还是返回一个新的？",
    seen_in=("lucidrains/flamingo-pytorch#10",),
)
MASKED_AFTER_THE_SOFTMAX = Fault(
    "masked_after_the_softmax",
    place="mask use",
    en="The weights of hidden keys are set to 0 after the softmax, so the rest no longer sums to 1. Which comes "
    "first, hiding or sharing out?",
    zh="softmax 之后才把被遮住的权重改成 0，剩下的加起来就不再是 1。先遮，还是先分配？",
    seen_in=("huggingface/pytorch-image-models#2236", "lucidrains/memory-compressed-attention#2"),
)
ONE_QUERY_SEES_EVERYTHING = Fault(
    "one_query_sees_everything",
    place="single query",
    en="Where there is one query only, the mask is passed over. The last position may read everything before it, "
    "but padding is still padding.",
    zh="只有一个查询时，遮罩被跳过了。最后一个位置确实能读前面的一切，但填充仍然是填充。",
)
NOTHING_READABLE_TAKEN_FOR_NO_MASK = Fault(
    "nothing_readable_taken_for_no_mask",
    place="all False",
    en='A mask without any True is treated like no mask at all, as when one asks whether the mask is "true" '
    "instead of whether it is None. What may be read here?",
    zh="一个 True 都没有的遮罩被当成了没有遮罩，比如判断的是遮罩的“真假”，而不是它是不是 None。这时能读什么？",
)
QUERY_AXIS_FOR_KEY_AXIS = Fault(
    "query_axis_for_key_axis",
    place="last axes of the mask",
    en="The last two axes of the mask are exchanged: what should hide keys hides queries. Which axis of the "
    "scores belongs to the keys?",
    zh="遮罩的最后两个轴弄反了：本该遮住 key，遮住的却是查询。分数的哪个轴是 key 的？",
    seen_in=("hyunwoongko/transformer#40", "lsdefine/attention-is-all-you-need-keras#16"),
)
MASKS_IN_ANOTHER_ORDER_THAN_HEADS = Fault(
    "masks_in_another_order_than_heads",
    place="mask of a sequence",
    en="Some heads get the mask of another sequence, as when heads and batch are joined into one axis and the "
    "masks are repeated in another order. In `repeat` and `repeat_interleave`, which index runs faster?",
    zh="有的头用了别的序列的遮罩，比如头和 batch 合成了一个轴，遮罩却按另一种顺序重复。"
    "`repeat` 和 `repeat_interleave` 里，变化得更快的各是哪个下标？",
    seen_in=("ArrowLuo/CLIP4Clip#22", "line/lighthouse#77"),
)
HEADS_GUESSED_BY_THEIR_NUMBER = Fault(
    "heads_guessed_by_their_number",
    place="mask of a sequence",
    en="A first mask axis as long as there are heads is taken for the heads. With as many sequences as heads that "
    "guess is wrong: what tells the two apart?",
    zh="遮罩的第一个轴如果和头数一样长，就被当成了头的轴。序列数正好等于头数时就猜错了：靠什么才能分清这两个轴？",
)
THREE_DIMENSIONS_TAKEN_FOR_BATCH = Fault(
    "three_dimensions_taken_for_batch",
    place="three dimensions",
    en="A three-dimensional mask is taken to be one for each sequence. It could as well be one for each head: "
    "what does the exercise ask for where a meaning is not clear?",
    zh="把三维的遮罩当成了每个序列一个。它同样可能是每个头一个：意思不明确时，题目要求怎么做？",
    seen_in=("pytorch/pytorch#64706", "pytorch/pytorch#97409"),
)
ROWS_OPENED_IN_PLACE = Fault(
    "rows_opened_in_place",
    place="arguments",
    en="Rows in which nothing may be read are changed in the caller's own mask. Whose tensor is it, and who else "
    "uses it?",
    zh="什么都不许读的行，是直接在调用者自己的遮罩上改的。这个张量是谁的，还有谁在用它？",
    seen_in=("huggingface/transformers#31008",),
)
NAN_WHERE_NOTHING_IS_READABLE = Fault(
    "nan_where_nothing_is_readable",
    place="fully masked row",
    en="A row in which nothing may be read becomes NaN, because the softmax divides 0 by 0, and the NaN spreads "
    "from there. What should be read when nothing may be?",
    zh="什么都不许读的行变成了 NaN：softmax 在那里算的是 0 除以 0，NaN 又会扩散开来。什么都不许读的时候，读到的应"
    "该是什么？",
    seen_in=("pytorch/pytorch#27968", "pytorch/pytorch#103963"),
)
UNIFORM_WHERE_NOTHING_IS_READABLE = Fault(
    "uniform_where_nothing_is_readable",
    place="fully masked row",
    en="A row in which nothing may be read gets the same weight for every key, so it reads all that is hidden. "
    "Equal scores give equal weights, however low they are.",
    zh="什么都不许读的行，每个 key 都得到了相同的权重，等于把遮住的全读了一遍。分数只要相等，再低权重也相等。",
    seen_in=("huggingface/transformers#26572", "d2l-ai/d2l-en#2423"),
)
NAN_FLOWS_BACK = Fault(
    "nan_flows_back",
    place="fully masked row",
    en="A row in which nothing may be read is put right only after the softmax. The output is right, but NaN "
    "flows back through the softmax. What is 0 times NaN?",
    zh="什么都不许读的行，是在 softmax 之后才补救的。输出是对的，但反向传播时 NaN 会穿过 softmax 传回来。0 乘 NaN "
    "等于几？",
    seen_in=("pytorch/pytorch#41508", "Xilinx/brevitas#1591"),
)
EMPTIED_AFTER_THE_OUTPUT_LAYER = Fault(
    "emptied_after_the_output_layer",
    place="emptied rows",
    en="A row in which nothing may be read is set to 0 after `out_proj`, so that its bias is lost. What does a "
    "linear layer make of 0?",
    zh="什么都不许读的行，在 `out_proj` 之后被置成了 0，连偏置也没了。线性层的输入是 0 时，输出是什么？",
)
FILL_TOO_LARGE_FOR_HALF_PRECISION = Fault(
    "fill_too_large_for_half_precision",
    place="fill",
    en="Hidden scores are filled with a fixed number such as -1e9, which float16 cannot hold: there is an error. "
    "Which value exists in every floating dtype?",
    zh="被遮住的分数填的是 -1e9 这样的固定数，float16 装不下，于是报错。哪个值是每种浮点 dtype 都有的？",
    seen_in=("facebookresearch/fairseq#3575", "NVIDIA/apex#1052"),
)
DROPOUT_NEVER = Fault(
    "dropout_never",
    place="dropout mode",
    en="Nothing is ever dropped, not in training either. What is the `dropout` argument for?",
    zh="从来没有丢弃过任何东西，训练时也没有。`dropout` 这个参数是做什么的？",
)
DROPOUT_ALWAYS = Fault(
    "dropout_always",
    place="dropout mode",
    en="Weights are dropped in evaluation too. `F.dropout` does not know by itself in which mode the module is: "
    "who tells it?",
    zh="评估时也在丢弃权重。`F.dropout` 自己并不知道模块处于哪种模式：要由谁告诉它？",
    seen_in=("pytorch/pytorch#124464", "huggingface/pytorch-image-models#1978", "facebookresearch/vjepa2#160"),
)
HEAD_OUTPUTS_DROPPED = Fault(
    "head_outputs_dropped",
    place="what is dropped",
    en="Dropout acts on the outputs of the heads, feature by feature, instead of on the weights. What does it "
    "mean for a query not to see a key for once?",
    zh="dropout 作用在各个头的输出上，一个特征一个特征地丢，而不是作用在权重上。让查询这一次看不到某个 key，"
    "该丢的是什么？",
    seen_in=("cs231n/cs231n.github.io#278",),
)
OUTPUT_DROPPED = Fault(
    "output_dropped",
    place="what is dropped",
    en="Dropout acts on the finished output, after `out_proj`, instead of on the weights. With p = 1, should the "
    "bias be left?",
    zh="dropout 作用在 `out_proj` 之后的最终输出上，而不是作用在权重上。p = 1 时，偏置应该留下来吗？",
)
KEPT_WEIGHTS_NOT_SCALED = Fault(
    "kept_weights_not_scaled",
    place="dropout scale",
    en="Weights that are kept stay as they are, so in training the output is too small on average. What should be "
    "the same with dropout and without?",
    zh="留下来的权重没有放大，训练时的输出平均来说就偏小了。有没有 dropout，什么应该保持一样？",
)
KEPT_WEIGHTS_SUM_TO_ONE = Fault(
    "kept_weights_sum_to_one",
    place="dropout scale",
    en="After dropout the rows are made to sum to 1 again. Dropout is right on average, not row by row.",
    zh="dropout 之后又让每一行的和变回了 1。dropout 只保证平均是对的，并不保证每一行都对。",
)
NOTHING_DIVIDED_BY_NOTHING = Fault(
    "nothing_divided_by_nothing",
    place="dropout scale",
    en="With p = 1 the output is NaN: 0 is divided by 1 - p, which is 0. Which case needs a look of its own?",
    zh="p = 1 时输出是 NaN：0 除以了 1 - p，而它正好是 0。哪种情况需要单独处理？",
)
WEIGHTS_AFTER_DROPOUT = Fault(
    "weights_after_dropout",
    place="returned weights",
    en="The weights that are returned are those after dropout. Whoever looks at them wants to see what the query "
    "reads, not what chance left of it.",
    zh="返回的是 dropout 之后的权重。看权重的人想知道查询读了什么，而不是碰巧剩下了什么。",
    seen_in=("pytorch/pytorch#42929", "pytorch/pytorch#90842", "facebookresearch/fairseq#351"),
)
HEADS_AVERAGED = Fault(
    "heads_averaged",
    place="weights of the heads",
    en="The returned weights are averaged over the heads. What can no longer be seen then?",
    zh="返回的权重对各个头求了平均。这样一来，什么就看不见了？",
    seen_in=("pytorch/pytorch#34537", "pytorch/pytorch#70055"),
)
OUTPUT_OF_ONE_SEQUENCE_SQUEEZED = Fault(
    "output_of_one_sequence_squeezed",
    place="shape of the output",
    en="The output of a batch of one sequence loses its batch axis. Which axes does `squeeze` remove?",
    zh="batch 里只有一个序列时，输出少了 batch 轴。`squeeze` 会去掉哪些轴？",
)
WEIGHTS_OF_ONE_SEQUENCE_SQUEEZED = Fault(
    "weights_of_one_sequence_squeezed",
    place="shape of the weights",
    en="The weights of a batch of one sequence lose their batch axis. A program that reads them has to know the "
    "number of axes beforehand.",
    zh="batch 里只有一个序列时，权重少了 batch 轴。读取它的程序事先得知道有几个轴。",
)
ALWAYS_FLOAT32 = Fault(
    "always_float32",
    place="dtype",
    en="float32 comes back whatever came in. What should the dtype of the result depend on?",
    zh="不管输入是什么，返回的都是 float32。结果的 dtype 应该由什么决定？",
)


def split_heads(x: Tensor, n_heads: int, *, faults: Faults = NONE) -> Tensor:
    """Return `(..., n_heads, seq, d_head)`, wrong in the ways of `faults`."""
    if SPLIT_OF_BATCHES_ONLY in faults and x.dim() != 3:
        raise ValueError("x must have three dimensions")
    if x.shape[-1] % n_heads and REST_OF_THE_FEATURES_DROPPED not in faults:
        raise ValueError(f"the features of x, {x.shape[-1]}, do not divide by n_heads, {n_heads}")
    d_head = x.shape[-1] // n_heads
    whole = x[..., : n_heads * d_head]
    if WIDTH_TAKEN_FOR_THE_NUMBER in faults:
        n_heads, d_head = d_head, n_heads
    if SPLIT_WITHOUT_THE_SWAP in faults:
        return whole.reshape(*x.shape[:-2], n_heads, x.shape[-2], d_head)
    return whole.reshape(*x.shape[:-1], n_heads, d_head).transpose(-3, -2)


def merge_heads(x: Tensor, *, faults: Faults = NONE) -> Tensor:
    """Return `(..., seq, n_heads * d_head)`, wrong in the ways of `faults`."""
    if MERGE_OF_BATCHES_ONLY in faults and x.dim() != 4:
        raise ValueError("x must have four dimensions")
    n_heads, n_positions, d_head = x.shape[-3:]
    if MERGED_WITHOUT_THE_SWAP in faults:
        return x.reshape(*x.shape[:-3], n_positions, n_heads * d_head)
    return x.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Project, attend in every head, join the heads, project again, wrong in the ways of `faults`."""

    def __init__(
        self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True, *, faults: Faults = NONE
    ) -> None:
        super().__init__()
        if d_model % n_heads and CONSTRUCTOR_NOT_CHECKED not in faults:
            raise ValueError(f"d_model, {d_model}, does not divide by n_heads, {n_heads}")
        self.n_heads, self.dropout, self.faults = n_heads, dropout, faults
        bias = bias or BIAS_ARGUMENT_IGNORED in faults
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.copies: dict[str, tuple[Tensor, Tensor | None]] = {}

    def forward(
        self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None, allowed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return output and weights."""
        queries, keys, values = self.heads_of(*sources_of(query, key, value, self.faults))
        scores = scores_of(queries, keys, self.n_heads, self.faults)
        mask = mask_of(allowed, scores.shape, self.n_heads, self.faults)
        weights = weights_of(scores, mask, self.faults)
        used = self.perhaps_dropped(weights, here=not {HEAD_OUTPUTS_DROPPED, OUTPUT_DROPPED} & self.faults)
        averages = self.perhaps_dropped(used @ values, here=HEAD_OUTPUTS_DROPPED in self.faults)
        merged = merge_heads(averages, faults=self.faults)
        output = merged if OUTPUT_NOT_PROJECTED in self.faults else self.layer("out_proj", merged)
        if EMPTIED_AFTER_THE_OUTPUT_LAYER in self.faults and mask is not None:
            output = output.masked_fill(~mask.any(dim=-1).any(dim=1)[..., None], 0.0)  # (batch, n_queries, 1)
        output = self.perhaps_dropped(output, here=OUTPUT_DROPPED in self.faults)
        return returned(output, used if WEIGHTS_AFTER_DROPOUT in self.faults else weights, self.faults)

    def heads_of(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """Project and split."""
        names = ["q_proj", "k_proj", "v_proj"]
        if QUERY_AND_KEY_LAYERS_SWAPPED in self.faults:
            names[:2] = "k_proj", "q_proj"
        if KEYS_THROUGH_THE_QUERY_LAYER in self.faults:
            names[1] = "q_proj"
        if VALUES_THROUGH_THE_KEY_LAYER in self.faults:
            names[2] = "k_proj"
        projected = [self.layer(name, x) for name, x in zip(names, (query, key, value), strict=True)]
        return tuple(split_heads(x, self.n_heads, faults=self.faults) for x in projected)

    def layer(self, name: str, x: Tensor) -> Tensor:
        """Send `x` through a layer."""
        weight, bias = getattr(self, name).weight, getattr(self, name).bias
        if LAYERS_COPIED_AT_THE_FIRST_CALL in self.faults:
            copies = weight.clone(), None if bias is None else bias.clone()
            weight, bias = self.copies.setdefault(name, copies)
        if WEIGHT_MATRIX_TURNED in self.faults:
            weight = weight.T
        return nn.functional.linear(x, weight, None if BIASES_FORGOTTEN in self.faults else bias)

    def perhaps_dropped(self, x: Tensor, here: bool) -> Tensor:
        """Drop some of `x` if this is the place for it."""
        active = (self.training or DROPOUT_ALWAYS in self.faults) and DROPOUT_NEVER not in self.faults
        return dropped(x, self.dropout, self.faults) if here and active and self.dropout > 0 else x


def sources_of(query: Tensor, key: Tensor | None, value: Tensor | None, faults: Faults) -> tuple[Tensor, ...]:
    """Choose what queries, keys and values are made from."""
    if QUERY_VIEWED in faults:
        query = query.view(-1, query.shape[-1]).view(query.shape)
    if key is None and KEY_DEFAULTS_TO_THE_VALUE in faults:
        key = value
    if key is None:
        key = query.detach() if DEFAULTS_WITHOUT_GRADIENT in faults else query
    if value is None or VALUE_IGNORED in faults:
        value = key
    if SEQUENCE_TAKEN_FOR_THE_BATCH in faults:
        return query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
    return query, key, value


def scores_of(queries: Tensor, keys: Tensor, n_heads: int, faults: Faults) -> Tensor:
    """Compare every query with every key."""
    width = queries.shape[-1]
    if ROOT_OF_THE_WHOLE_WIDTH in faults:
        width *= n_heads
    scale = 1.0 if NO_SCALE in faults else 1.0 / math.sqrt(width)
    return (queries * scale) @ keys.transpose(-2, -1)


def mask_of(allowed: Tensor | None, shape: torch.Size, n_heads: int, faults: Faults) -> Tensor | None:
    """Give the mask its four axes; None where everything may be read."""
    if allowed is None or unheeded(allowed, shape, faults):
        return None
    mask = laid_out(with_four_axes(allowed, faults), shape, n_heads, faults)
    if ROWS_OPENED_IN_PLACE in faults:
        mask, empty = mask.clone(), ~allowed.any(dim=-1, keepdim=True)
        if empty.any():
            allowed.masked_fill_(empty, True)
    return ~mask if MASK_READ_THE_OTHER_WAY_ROUND in faults else mask


def unheeded(allowed: Tensor, shape: torch.Size, faults: Faults) -> bool:
    """Tell whether a fault passes the mask over."""
    if ONE_QUERY_SEES_EVERYTHING in faults and shape[-2] == 1:
        return True
    return NOTHING_READABLE_TAKEN_FOR_NO_MASK in faults and not allowed.any()


def with_four_axes(allowed: Tensor, faults: Faults) -> Tensor:
    """Refuse three axes, and put those of batch and heads in front of two."""
    if allowed.dim() == 3:
        if THREE_DIMENSIONS_TAKEN_FOR_BATCH not in faults:
            raise ValueError("allowed has three dimensions, which could mean batch or heads")
        return allowed[:, None]
    return allowed if allowed.dim() == 4 else allowed[None, None]


def laid_out(mask: Tensor, shape: torch.Size, n_heads: int, faults: Faults) -> Tensor:
    """Bring each axis of the mask to its place."""
    if QUERY_AXIS_FOR_KEY_AXIS in faults:
        mask = mask.transpose(-2, -1)
    if HEADS_GUESSED_BY_THEIR_NUMBER in faults and mask.shape[0] == n_heads:
        mask = mask.transpose(0, 1)
    if MASKS_IN_ANOTHER_ORDER_THAN_HEADS in faults:
        batch, heads = shape[:2]
        mask = mask.expand(batch, heads, -1, -1).transpose(0, 1).reshape(batch, heads, *mask.shape[-2:])
    return mask


def weights_of(scores: Tensor, mask: Tensor | None, faults: Faults) -> Tensor:
    """Share out the attention of every query."""
    if mask is None or MASK_WITHOUT_EFFECT in faults:
        weights = softmax(scores, faults)
    elif MASKED_AFTER_THE_SOFTMAX in faults:
        weights = softmax(scores, faults) * mask
    else:
        weights = weights_of_readable(scores, mask, faults)
    return weights.detach() if WEIGHTS_DETACHED in faults else weights


def weights_of_readable(scores: Tensor, mask: Tensor, faults: Faults) -> Tensor:
    """Hide what may not be read, and choose what a row without anything readable becomes."""
    fill = -1e9 if FILL_TOO_LARGE_FOR_HALF_PRECISION in faults else -math.inf
    empty = ~mask.any(dim=-1, keepdim=True)
    if NAN_WHERE_NOTHING_IS_READABLE in faults:
        return softmax(scores.masked_fill(~mask, fill), faults)
    if NAN_FLOWS_BACK in faults:
        hidden = torch.zeros_like(scores).masked_fill(~mask, fill)
        return softmax(scores + hidden, faults).masked_fill(empty, 0.0)
    weights = softmax(scores.masked_fill(~mask & ~empty, fill), faults)
    return weights.masked_fill(empty, 1.0 / scores.shape[-1] if UNIFORM_WHERE_NOTHING_IS_READABLE in faults else 0.0)


def softmax(scores: Tensor, faults: Faults) -> Tensor:
    """Normalise over the keys, or over what a fault takes for them."""
    if NORMALISED_OVER_THE_QUERIES in faults:
        return torch.softmax(scores, dim=-2)
    return torch.softmax(scores, dim=1 if NORMALISED_OVER_THE_HEADS in faults else -1)


def dropped(x: Tensor, probability: float, faults: Faults) -> Tensor:
    """Keep each entry with 1 - p, and make up for those that are gone."""
    kept = x * (torch.rand(x.shape) >= probability)
    if KEPT_WEIGHTS_NOT_SCALED in faults:
        return kept
    if KEPT_WEIGHTS_SUM_TO_ONE in faults:
        total = kept.sum(dim=-1, keepdim=True)
        return kept / torch.where(total == 0, 1.0, total)
    if probability == 1 and NOTHING_DIVIDED_BY_NOTHING not in faults:
        return torch.zeros_like(x)
    return kept / (1.0 - probability)


def returned(output: Tensor, weights: Tensor, faults: Faults) -> tuple[Tensor, Tensor]:
    """Give output and weights the form in which they are returned."""
    if SEQUENCE_TAKEN_FOR_THE_BATCH in faults:
        output = output.transpose(0, 1)
    if OUTPUT_OF_ONE_SEQUENCE_SQUEEZED in faults:
        output = output.squeeze(0)
    if HEADS_AVERAGED in faults:
        weights = weights.mean(dim=1)
    if WEIGHTS_OF_ONE_SEQUENCE_SQUEEZED in faults:
        weights = weights.squeeze(0)
    return (output.float(), weights.float()) if ALWAYS_FLOAT32 in faults else (output, weights)


LAYERS = ("q_proj", "k_proj", "v_proj", "out_proj")


def tensor(*rows: Any) -> Tensor:
    """Make a tensor of float64."""
    return torch.tensor(rows, dtype=torch.float64)


def mask(*rows: str) -> Tensor:
    """Read a mask from words of 1 (may be read) and 0."""
    return torch.tensor([[cell == "1" for cell in row] for row in rows])


def passing(d_model: int) -> dict[str, Tensor]:
    """Make weights that pass everything through, and an output bias."""
    state = {f"{layer}.weight": torch.eye(d_model, dtype=torch.float64) for layer in LAYERS}
    state |= {f"{layer}.bias": torch.zeros(d_model, dtype=torch.float64) for layer in LAYERS}
    return state | {"out_proj.bias": torch.arange(1.0, 1.0 + d_model, dtype=torch.float64)}


def reading(d_model: int) -> dict[str, Tensor]:
    """Make weights that give all keys the same weight, and an output bias."""
    return passing(d_model) | {"q_proj.weight": torch.zeros(d_model, d_model, dtype=torch.float64)}


def mixing(d_model: int) -> dict[str, Tensor]:
    """Make weights that differ from layer to layer and from their transposes, biases too."""
    row, column = torch.meshgrid(*2 * [torch.arange(d_model, dtype=torch.float64)], indexing="ij")
    state = {f"{layer}.weight": ((3 * row + 5 * column + 2 * n) % 7 - 3) / 4 for n, layer in enumerate(LAYERS)}
    return state | {f"{layer}.bias": (row[:, 0] + n) / 2 for n, layer in enumerate(LAYERS)}


def made(module: Any, state: dict[str, Tensor], n_heads: int, dtype: str = "float64", **options: Any) -> Any:
    """Make a module with these weights."""
    rounded = {name: value.to(getattr(torch, dtype)) for name, value in state.items()}
    d_model = len(state["out_proj.bias"])
    instance = module.new_loaded("MultiHeadAttention", rounded, dtype, d_model, n_heads, **options)
    return instance


QUERY = tensor([[1, 0, 2, 0], [0, 1, 0, 1], [2, 1, 1, 0]], [[0, 1, 1, 1], [1, 1, 0, 2], [0, 0, 1, 0]])
KEY = tensor([[0, 1, 1, 0], [1, 0, 0, 2], [1, 1, 0, 1]], [[1, 0, 0, 1], [0, 2, 1, 0], [1, 0, 2, 1]])
VALUE = tensor([[1, 0, 2, 0], [4, 1, 0, 3], [0, 5, 1, 0]], [[0, 3, 1, 6], [2, 0, 4, 1], [1, 2, 0, 5]])
TWO_POSITIONS = tensor([[1, 4], [16, 2]])
TWO_SEQUENCES = tensor([[1, 4], [16, 2]], [[3, 5], [0, 7]])
THREE_SEQUENCES = tensor(*([[4.0**n] * 6, [2 * 4.0**n] * 6, [3 * 4.0**n] * 6] for n in range(3)))
# A mask for each sequence, in which every query has a key and every key a query.
ONE_MASK_EACH = torch.stack([mask("111", "110", "011"), mask("110", "011", "111"), mask("101", "111", "100")])[:, None]
NOTHING_FOR_THE_FIRST = mask("000", "111", "110")


def asked(state: dict[str, Tensor], n_heads: int, *sources: Tensor, **options: Tensor) -> Callable[[Any], Any]:
    """Ask a module for output and weights."""

    def ask(module: Any) -> list[Any]:
        fresh = {name: option.clone() for name, option in options.items()}
        return list(made(module, state, n_heads)(*sources, **fresh))

    return ask


def only_the_output(
    state: dict[str, Tensor], n_heads: int, *sources: Tensor, **options: Tensor
) -> Callable[[Any], Any]:
    """Ask a module for its output."""
    return lambda module: asked(state, n_heads, *sources, **options)(module)[0]


def flowing_back(state: dict[str, Tensor], n_heads: int, *sources: Tensor, **options: Tensor) -> Callable[[Any], Any]:
    """Ask what flows back to the sources from the output, from each number of it another part."""
    cotangents = (torch.arange(QUERY.numel(), dtype=torch.float64).reshape(QUERY.shape),)

    def ask(module: Any) -> list[Any]:
        fresh = {name: option.clone() for name, option in options.items()}
        wrt = tuple(range(len(sources)))
        return list(made(module, state, n_heads).gradients(*sources, cotangents=cotangents, wrt=wrt, **fresh).arguments)

    return ask


def refused(module: Any) -> bool:
    """Ask for heads that do not fit into the width."""
    module.new("MultiHeadAttention", 3, 2)
    return False


def names_without_bias(module: Any) -> list[str]:
    """Ask which parameters are there without biases."""
    return sorted(module.new("MultiHeadAttention", 2, 1, bias=False).state())


def loaded_again(module: Any) -> Any:
    """Load other weights after a call."""
    instance = made(module, mixing(2), 1)
    instance(TWO_POSITIONS)
    instance.load(reading(2))
    return instance(TWO_POSITIONS)[0]


def modified(module: Any) -> list[str]:
    """Ask which arguments a call changed."""
    made(module, reading(2), 1)(TWO_SEQUENCES, allowed=mask("10", "00"))
    return list(module.last.modified)


def in_float16(module: Any) -> list[Any]:
    """Calculate in half precision, with a mask."""
    return list(made(module, reading(2), 1, "float16")(TWO_SEQUENCES.half(), allowed=mask("10", "11")))


def all_dropped(module: Any) -> list[Any]:
    """Ask for output and weights with p = 1, in training."""
    return list(made(module, reading(2), 1, dropout=1.0)(TWO_POSITIONS))


def all_dropped_in_evaluation(module: Any) -> Any:
    """Ask for the output with p = 1, in evaluation."""
    instance = made(module, reading(2), 1, dropout=1.0)
    instance.eval()
    return instance(TWO_POSITIONS)[0]


def many_dropped(module: Any) -> list[Any]:
    """Ask 300 queries at once with p = 0.25: the largest output, and which features are always alike.

    Features 0 and 1 come from one head, and feature 2 is feature 0 once more.
    """
    copied = torch.eye(4, dtype=torch.float64)[[0, 1, 0, 3]]
    state = reading(4) | {"out_proj.weight": copied, "out_proj.bias": torch.zeros(4, dtype=torch.float64)}
    queries, keys = torch.zeros(1, 300, 4, dtype=torch.float64), tensor([[1, 1, 1, 1], [3, 3, 3, 3]])
    output = made(module, state, 2, dropout=0.25)(queries, keys)[0]
    return [output.max(), *(bool((output[..., 0] == output[..., other]).all()) for other in (1, 2))]


_NO_MASK = "the mask is not used at all"
_AFTERWARDS = (
    "no score is hidden before the softmax, so there is no fill, and a row without anything readable is set to 0"
)
_NOTHING_DROPPED = "nothing is dropped, so it does not matter what or how"
_ALREADY_ZERO = "without the bias of the output layer such a row is 0 already"

FAMILY = Family(
    "multi_head",
    {"split_heads": split_heads, "merge_heads": merge_heads, "MultiHeadAttention": MultiHeadAttention},
    faults=tuple(value for value in list(globals().values()) if isinstance(value, Fault)),
    probes=(
        Probe("two positions split", lambda module: module.split_heads(torch.arange(12.0).reshape(1, 2, 6), 3)),
        Probe("a matrix split", lambda module: module.split_heads(torch.arange(4.0).reshape(2, 2), 2)),
        Probe("three features, two heads", lambda module: module.split_heads(torch.arange(3.0).reshape(1, 1, 3), 2)),
        Probe("two heads merged", lambda module: module.merge_heads(torch.arange(12.0).reshape(1, 2, 3, 2))),
        Probe("heads without a batch merged", lambda module: module.merge_heads(torch.arange(4.0).reshape(2, 2, 1))),
        Probe("width 3, two heads", refused),
        Probe("no bias", names_without_bias),
        Probe("one position", asked(mixing(2), 1, tensor([[1, 2]]))),
        Probe("two heads", asked(mixing(4), 2, QUERY, KEY, VALUE)),
        Probe("value without key", only_the_output(passing(4), 4, QUERY, value=VALUE)),
        Probe("a transposed query", only_the_output(reading(6), 1, THREE_SEQUENCES[:2].transpose(0, 1))),
        Probe("one query, one of two keys", asked(reading(2), 1, tensor([[1, 4]]), TWO_POSITIONS, allowed=mask("10"))),
        Probe(
            "a mask for each of two sequences",
            only_the_output(reading(6), 3, THREE_SEQUENCES[:2], allowed=ONE_MASK_EACH[:2]),
        ),
        Probe("as many sequences as heads", only_the_output(reading(6), 3, THREE_SEQUENCES, allowed=ONE_MASK_EACH)),
        Probe("three dimensions", only_the_output(reading(2), 2, TWO_POSITIONS, allowed=mask("10", "11")[None])),
        Probe("nothing for the first query", asked(reading(6), 2, THREE_SEQUENCES, allowed=NOTHING_FOR_THE_FIRST)),
        Probe("nothing for anyone", only_the_output(passing(2), 1, TWO_SEQUENCES, allowed=mask("00", "00"))),
        Probe("gradient of the query alone", flowing_back(passing(4), 4, QUERY)),
        Probe(
            "gradients with nothing for the first query",
            flowing_back(passing(4), 4, QUERY, KEY, VALUE, allowed=NOTHING_FOR_THE_FIRST),
        ),
        Probe("other weights loaded after a call", loaded_again),
        Probe("arguments changed", modified),
        Probe("float16 with a mask", in_float16),
        Probe("all dropped", all_dropped),
        Probe("all dropped, in evaluation", all_dropped_in_evaluation),
        Probe("many dropped", many_dropped),
    ),
    same=(
        *(
            Same(frozenset({MASK_WITHOUT_EFFECT, other}), frozenset({MASK_WITHOUT_EFFECT}), _NO_MASK)
            for other in (
                MASK_READ_THE_OTHER_WAY_ROUND,
                ONE_QUERY_SEES_EVERYTHING,
                NOTHING_READABLE_TAKEN_FOR_NO_MASK,
                QUERY_AXIS_FOR_KEY_AXIS,
                MASKS_IN_ANOTHER_ORDER_THAN_HEADS,
                HEADS_GUESSED_BY_THEIR_NUMBER,
                NAN_WHERE_NOTHING_IS_READABLE,
                UNIFORM_WHERE_NOTHING_IS_READABLE,
                NAN_FLOWS_BACK,
                FILL_TOO_LARGE_FOR_HALF_PRECISION,
            )
        ),
        *(
            Same(frozenset({MASKED_AFTER_THE_SOFTMAX, other}), frozenset({MASKED_AFTER_THE_SOFTMAX}), _AFTERWARDS)
            for other in (
                NAN_WHERE_NOTHING_IS_READABLE,
                UNIFORM_WHERE_NOTHING_IS_READABLE,
                NAN_FLOWS_BACK,
                FILL_TOO_LARGE_FOR_HALF_PRECISION,
            )
        ),
        *(
            Same(frozenset({DROPOUT_NEVER, other}), frozenset({DROPOUT_NEVER}), _NOTHING_DROPPED)
            for other in (
                HEAD_OUTPUTS_DROPPED,
                OUTPUT_DROPPED,
                KEPT_WEIGHTS_NOT_SCALED,
                KEPT_WEIGHTS_SUM_TO_ONE,
                NOTHING_DIVIDED_BY_NOTHING,
                WEIGHTS_AFTER_DROPOUT,
            )
        ),
        *(
            Same(frozenset({other, WEIGHTS_AFTER_DROPOUT}), frozenset({other}), "the weights are not dropped")
            for other in (HEAD_OUTPUTS_DROPPED, OUTPUT_DROPPED)
        ),
        *(
            Same(frozenset({other, EMPTIED_AFTER_THE_OUTPUT_LAYER}), frozenset({other}), _ALREADY_ZERO)
            for other in (BIASES_FORGOTTEN, OUTPUT_NOT_PROJECTED)
        ),
        Same(
            frozenset({OUTPUT_NOT_PROJECTED, HEAD_OUTPUTS_DROPPED}),
            frozenset({OUTPUT_NOT_PROJECTED, OUTPUT_DROPPED}),
            "the merged heads are the output",
        ),
        Same(
            frozenset({WEIGHTS_DETACHED, NAN_FLOWS_BACK}),
            frozenset({WEIGHTS_DETACHED}),
            "nothing flows back through the softmax",
        ),
        Same(
            frozenset({FILL_TOO_LARGE_FOR_HALF_PRECISION, NAN_FLOWS_BACK}),
            frozenset({FILL_TOO_LARGE_FOR_HALF_PRECISION}),
            "with a finite fill no NaN comes up",
        ),
        Same(
            frozenset({FILL_TOO_LARGE_FOR_HALF_PRECISION, NAN_WHERE_NOTHING_IS_READABLE}),
            frozenset({FILL_TOO_LARGE_FOR_HALF_PRECISION, UNIFORM_WHERE_NOTHING_IS_READABLE}),
            "with a finite fill all scores of such a row are equal",
        ),
        Same(
            frozenset({MASK_READ_THE_OTHER_WAY_ROUND, NOTHING_READABLE_TAKEN_FOR_NO_MASK}),
            frozenset({MASK_READ_THE_OTHER_WAY_ROUND}),
            "a mask without any True, read the other way round, hides nothing",
        ),
    ),
)
