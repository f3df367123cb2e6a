"""Wrong attentions: each fault is a switch at the line where it bites."""

import math
from typing import Any

import torch

from autograder.faults.family import NONE, Family, Fault, Faults, Probe, Same

SCALE_MISSING = Fault(
    "scale_missing",
    place="scale",
    en="The scores are not divided by anything. How does the spread of a dot product grow with d_k, and what does "
    "that do to the softmax?",
    zh="分数没有除以任何数。d_k 变大时，点积的波动会怎样变？softmax 又会因此变成什么样？",
    seen_in=("delzac/cntkx#10", "PAIR-code/tiny-transformers#71"),
)
SCALED_BY_D_K = Fault(
    "scaled_by_d_k",
    place="scale",
    en="The scores are divided by d_k itself, or twice by its root. It is the variance of a dot product that grows "
    "like d_k: how does its standard deviation grow?",
    zh="分数除以了 d_k 本身，或者除了两次平方根。随 d_k 增长的是点积的方差，那么标准差是怎么增长的？",
)
SCALED_BY_THE_ROOT_OF_D_V = Fault(
    "scaled_by_the_root_of_d_v",
    place="scale",
    en="The scale comes from the width of the values. Which two things go into the dot product?",
    zh="缩放用的是 value 的宽度。点积是哪两样东西相乘得到的？",
    seen_in=("juho-lee/set_transformer#18",),
)
SCALED_BY_THE_ROOT_OF_N_KEYS = Fault(
    "scaled_by_the_root_of_n_keys",
    place="scale",
    en="The scale comes from the number of keys. A dot product adds up d_k terms, however many keys there are.",
    zh="缩放用的是 key 的个数。不管有多少个 key，一个点积相加的都是 d_k 项。",
)
SCALED_BY_THE_ROOT_OF_D_MODEL = Fault(
    "scaled_by_the_root_of_d_model",
    place="scale",
    en="With heads, the scale comes from the width of all of them together. How many numbers does the dot product of "
    "one head add up?",
    zh="有多个头时，缩放用的是所有头加在一起的宽度。单个头里的一次点积，加起来的是多少个数？",
    seen_in=("lucidrains/vit-pytorch#65", "karpathy/ng-video-lecture#28"),
)
SCALED_BY_A_WHOLE_NUMBER = Fault(
    "scaled_by_a_whole_number",
    place="scale",
    en="The root of d_k is cut to a whole number, so only square widths come out right. What is the root of 5?",
    zh="d_k 的平方根被截成了整数，只有 d_k 是完全平方数时才对。5 的平方根是多少？",
)
SCALED_BY_HALF_OF_D_K = Fault(
    "scaled_by_half_of_d_k",
    place="scale",
    en="The scores are divided by d_k / 2, which is the root of d_k only when d_k is 4. Which is done first, the power "
    "or the division?",
    zh="分数除以的是 d_k / 2，只有 d_k 等于 4 时它才恰好是平方根。乘方和除法，先算的是哪一个？",
    seen_in=("mkara44/transunet_pytorch#4",),
)
SCALE_MULTIPLIED = Fault(
    "scale_multiplied",
    place="scale",
    en="The scores are multiplied by the root of d_k, so they grow apart instead of coming closer. Is what you keep "
    "the root or one over the root?",
    zh="分数乘上了 d_k 的平方根，彼此没有靠近，反而拉得更开。你存下来的是平方根，还是它的倒数？",
    seen_in=("esceptico/perceiver-io#9",),
)
SCALED_AFTER_THE_PRODUCT = Fault(
    "scaled_after_the_product",
    place="where it is scaled",
    en="The product is taken first and divided afterwards. In half precision it has overflowed by then: what can be "
    "divided before it?",
    zh="先做了乘法，然后才除。半精度下这时早已溢出了：有什么可以在相乘之前先除好？",
    seen_in=("patrick-kidger/equinox#274", "openai/improved-diffusion#54", "bytedance/lightseq#91"),
)
QUERY_OVERWRITTEN = Fault(
    "query_overwritten",
    place="where it is scaled",
    en="The caller's query is scaled in place, so a second call starts from another query, and autograd refuses. "
    "Which operation makes a new tensor?",
    zh="缩放时直接改了调用者的 query：再调用一次，query 就不是原来的了，autograd 也会报错。哪种写法会得到一个新张量？",
    seen_in=("huggingface/transformers#31008",),
)
KEY_RESHAPED = Fault(
    "key_reshaped",
    place="transpose",
    en="The keys get the shape (d_k, n_keys) by reshaping, which keeps the order of the numbers and mixes the keys "
    "up. What does transposing do that reshaping does not?",
    zh="用 reshape 把 key 变成了 (d_k, n_keys)，数字的先后次序没变，不同的 key 却混在了一起。"
    "转置做了什么 reshape 没做的事？",
)
SOFTMAX_OVER_QUERIES = Fault(
    "softmax_over_queries",
    place="softmax axis",
    en="The softmax runs over the queries, so the queries compete for a key. Who is to share out a total of 1, and "
    "among whom?",
    zh="softmax 沿着查询的轴计算，成了各个查询争抢同一个 key。总和为 1 的权重，是谁分给谁的？",
    seen_in=("labmlai/annotated_deep_learning_paper_implementations#146", "spdlearn/spd_learn#28"),
)
SOFTMAX_OVER_AXIS_ONE = Fault(
    "softmax_over_axis_one",
    place="softmax axis",
    en="The softmax runs over axis 1 whatever the shape: the keys of a matrix, but the queries of a batch and the "
    "heads of a batch with heads. From which end can the axis of the keys be counted?",
    zh="不管形状如何，softmax 总是沿第 1 轴计算：矩阵的第 1 轴是 key，有了 batch 就是查询，再有头就成了头。"
    "key 的轴从哪一头数才不会变？",
    seen_in=("jadore801120/attention-is-all-you-need-pytorch#52", "PetrochukM/PyTorch-NLP#2"),
)
NO_SHIFT = Fault(
    "no_shift",
    place="shift",
    en="A softmax of your own that subtracts nothing: large scores overflow, and a row of very low ones sums to 0. "
    "What may be added to a row without changing its weights?",
    zh="自己写的 softmax 没有减去最大值：分数大了会溢出，一行全是很低的分数时总和又成了 0。给一行同时加上什么，"
    "权重不变？",
    seen_in=("tensorflow/tensorflow#10142",),
)
SHIFTED_BY_THE_WHOLE = Fault(
    "shifted_by_the_whole",
    place="shift",
    en="A softmax of your own subtracts the largest of all the scores, so a row far below it vanishes. Which maximum "
    "does each row need?",
    zh="自己写的 softmax 减去的是全部分数里的最大值，离它很远的行会全部变成 0。每一行该减哪个最大值？",
    seen_in=("linxiaow/EECS498-Deep-Learning-for-Vision#2",),
)
NOTHING_HAS_NO_MAXIMUM = Fault(
    "nothing_has_no_maximum",
    place="no keys",
    en="Without any keys there is an error, as from taking the maximum of a row without scores. What should be read "
    "when there is nothing to read?",
    zh="一个 key 都没有时会报错，比如对空的一行求最大值就会这样。没有东西可读的时候，读到的应该是什么？",
    seen_in=("pytorch/pytorch#174950", "Dao-AILab/flash-attention#2568"),
)
SOFTMAX_IN_FLOAT32 = Fault(
    "softmax_in_float32",
    place="precision",
    en="The softmax is computed in float32 always, which helps half precision, but costs float64 half of its digits.",
    zh="softmax 一律用 float32 计算。这对半精度有好处，float64 却因此丢掉了一半的有效数字。",
    seen_in=("netket/netket#1218",),
)
FLOAT32_FOR_HALF_PRECISION = Fault(
    "float32_for_half_precision",
    place="dtype of the result",
    en="Half precision goes in and float32 comes out. Computing in float32 is fine; what is missing at the end?",
    zh="输入是半精度，返回的却是 float32。中间用 float32 计算没有问题，最后还差哪一步？",
)
POLARITY_INVERTED = Fault(
    "polarity_inverted",
    place="polarity",
    en="The mask is read the other way round: what should be hidden is read, and the reverse. In this course True "
    "means that the query may read the key; in nn.MultiheadAttention it means the opposite.",
    zh="遮罩读反了：该遮住的读到了，该读的反被遮住。本课程里 True 表示这个查询可以读这个 key，"
    "nn.MultiheadAttention 的约定正好相反。",
    seen_in=("rasbt/LLMs-from-scratch#1061", "pytorch/pytorch#170415"),
)
MASK_WITHOUT_EFFECT = Fault(
    "mask_without_effect",
    place="masking",
    en="The mask changes nothing. `masked_fill` returns a new tensor and leaves the old one as it was: which of the "
    "two goes into the softmax?",
    zh="遮罩没有起任何作用。`masked_fill` 返回一个新张量，原来的并不改变：送进 softmax 的是哪一个？",
    seen_in=("lucidrains/flamingo-pytorch#10",),
)
MASK_MULTIPLIED = Fault(
    "mask_multiplied",
    place="masking",
    en="The scores are multiplied by the mask, so a hidden key has the score 0, which is a score like any other. "
    "Which score gives the weight 0?",
    zh="分数乘上了遮罩，被遮住的 key 得到 0 分，而 0 分和别的分数一样有权重。权重为 0 对应的分数是多少？",
    seen_in=("georg-wolflein/good-features#1", "tebesu/CollaborativeMemoryNetwork#8"),
)
MASK_ADDED = Fault(
    "mask_added",
    place="masking",
    en="The mask itself is added to the scores: True counts as 1 and False as 0, so nothing is hidden.",
    zh="把遮罩本身加到了分数上：True 当作 1，False 当作 0，结果什么也没遮住。",
    seen_in=("huggingface/transformers#41443", "microsoft/onnxscript#580"),
)
ZEROED_WITHOUT_RENORMALISING = Fault(
    "zeroed_without_renormalising",
    place="masking",
    en="Masked weights are set to 0 after the softmax, which had already given them a share, so the rest adds up to "
    "less than 1. Where must the mask come in?",
    zh="softmax 之后才把被遮住的权重置零，可它们已经分走了一份，剩下的加起来不到 1。遮罩应该在哪一步起作用？",
    seen_in=("huggingface/pytorch-image-models#2236", "lucidrains/memory-compressed-attention#2"),
)
RENORMALISED_AFTER_THE_SOFTMAX = Fault(
    "renormalised_after_the_softmax",
    place="masking",
    en="The softmax runs over all keys, then masked weights are set to 0 and the rest divided by its sum. Where a "
    "masked score is far above the others the rest is 0 already, and nothing brings it back.",
    zh="softmax 先算了所有的 key，再把被遮住的权重置零，其余的除以它们的和。如果被遮住的分数远高于其他分数，"
    "其余的早已是 0，再除也回不来了。",
)
MASKED_EXPONENTIALS_DROPPED = Fault(
    "masked_exponentials_dropped",
    place="masking",
    en="Masked scores are exponentiated first and dropped afterwards. Where such an exponential overflows, its "
    "gradient is 0 times infinity, NaN: what can be hidden before the exponential?",
    zh="被遮住的分数先取了指数，然后才丢掉。指数一旦溢出，它的梯度就是 0 乘无穷大，也就是 NaN：在取指数之前，"
    "可以先遮住什么？",
)
MINUS_INFINITY_ADDED = Fault(
    "minus_infinity_added",
    place="masking",
    en="-inf is added to the scores, not put in their place, so autograd keeps the path to them, and a fully masked "
    "row sends NaN along it even where the output has been put right.",
    zh="-inf 是加到分数上的，没有取代分数，autograd 于是保留着通往这些分数的路。整行被遮住时，就算输出补救好了，"
    "NaN 还是会沿着这条路传回去。",
    seen_in=("Xilinx/brevitas#1591", "pytorch/pytorch#23156"),
)
FILLED_WITH_MINUS_100 = Fault(
    "filled_with_minus_100",
    place="masking",
    en="Masked scores become -100, which a real score can undercut, and whose exponential is small but not 0. Which "
    "value is below every score?",
    zh="被遮住的分数换成了 -100，可是真实的分数完全可能比它更低，它的指数也只是很小，并不是 0。什么值比任何分数都低？",
)
FILLED_BEFORE_SCALING = Fault(
    "filled_before_scaling",
    place="masking",
    en="Masked scores are filled with a finite number before the division by the scale, which brings it closer to "
    "0, and masked keys get weight. Which value stays put whatever it is divided by?",
    zh="先填入一个有限的数，再做缩放，这个数就被除得离 0 更近，被遮住的 key 得到了权重。除以多少都不会变的是哪个值？",
)
FILLED_WITH_ALMOST_ZERO = Fault(
    "filled_with_almost_zero",
    place="masking",
    en="Masked scores become 1e-9, which is next to 0 and not far below it. Look at the sign again.",
    zh="被遮住的分数换成了 1e-9，它几乎就是 0，而不是一个很低的数。再看看负号该写在哪里。",
    seen_in=("karpathy/minGPT#75",),
)
FILLED_WITH_MINUS_1E9 = Fault(
    "filled_with_minus_1e9",
    place="masking",
    en="Masked scores become -1e9. float16 cannot hold that number, and in float32 a real score may lie below it.",
    zh="被遮住的分数换成了 -1e9。float16 装不下这个数，而在 float32 里真实的分数可能比它还低。",
    seen_in=("facebookresearch/fairseq#3575", "NVIDIA/apex#1052"),
)
FILLED_WITH_MINUS_10000 = Fault(
    "filled_with_minus_10000",
    place="masking",
    en="Masked scores become -10000. It fits float16, but a real score may lie below it, and then the query reads "
    "what is hidden from it.",
    zh="被遮住的分数换成了 -10000。float16 装得下它，但真实的分数可能更低，那时查询读到的就是本该遮住的内容。",
    seen_in=("huggingface/transformers#3181", "nntrainer/nntrainer#4333"),
)
TEN_THOUSAND_LESS_IN_HALF_PRECISION = Fault(
    "ten_thousand_less_in_half_precision",
    place="masking",
    en="In half precision 10000 is taken from masked scores, and a huge one still stands out. Is there a value that "
    "can take its place instead?",
    zh="半精度下只是给被遮住的分数减去 10000，分数特别大时仍然高出一截。能不能用一个值直接代替它？",
)
UNTREATED_WHERE_NOTHING_IS_LEFT = Fault(
    "untreated_where_nothing_is_left",
    place="fully masked row",
    en="A fully masked row is left to the softmax: among -inf it divides 0 by 0, which is NaN, among finite numbers it "
    "reads everything. What does a query read when it may read nothing?",
    zh="整行被遮住时没有单独处理，全交给了 softmax：都是 -inf 时算的是 0 除以 0，也就是 NaN；都是有限的数时又全读到了。"
    "什么都不许读的查询，读到的应该是什么？",
    seen_in=("pytorch/pytorch#103963", "pytorch/pytorch#25110", "patrick-kidger/equinox#274"),
)
UNIFORM_WHERE_NOTHING_IS_LEFT = Fault(
    "uniform_where_nothing_is_left",
    place="fully masked row",
    en="A fully masked row reads the mean of all values: every score was filled with the same finite number, so all "
    "weights are alike. What does a query read when it may read nothing?",
    zh="整行被遮住的查询读到了所有 value 的平均值：每个分数都填成了同一个有限的数，权重自然都一样。什么都不许读的时候，"
    "读到的应该是什么？",
    seen_in=("huggingface/transformers#27114", "pytorch/pytorch#24816"),
)
ZERO_WHERE_ANYTHING_IS_MASKED = Fault(
    "zero_where_anything_is_masked",
    place="fully masked row",
    en="A row becomes 0 as soon as one of its keys is masked. Which is it that should be asked about a row: whether "
    "any key is hidden, or whether all are?",
    zh="一行里只要有一个 key 被遮住，整行就成了 0。该问的是这一行有没有 key 被遮住，还是所有的 key 都被遮住？",
)
MASK_OF_NOTHING_TAKEN_FOR_NONE = Fault(
    "mask_of_nothing_taken_for_none",
    place="no mask",
    en="A mask without a single True is treated as if there were none, so everything is read where nothing may be. "
    "Is the mask missing, or does it say no?",
    zh="一个 True 都没有的遮罩被当成了没有遮罩，本来什么都不许读，结果全读到了。是没给遮罩，还是遮罩说了不许？",
    seen_in=("OpenNMT/OpenNMT-py#120", "nerfstudio-project/nerfstudio#1891"),
)
MASK_OF_THE_QUERIES = Fault(
    "mask_of_the_queries",
    place="axis of the mask",
    en="With as many queries as keys, a mask of the keys is laid along the queries, so whole queries go silent. "
    "Which axis of the scores are the keys on?",
    zh="查询和 key 一样多时，本该作用在 key 上的遮罩放到了查询的轴上，于是整个整个的查询什么都读不到。"
    "key 在分数的哪一个轴上？",
    seen_in=("lucidrains/x-transformers#174", "hyunwoongko/transformer#32"),
)
THREE_AXES_TAKEN_FOR_A_BATCH = Fault(
    "three_axes_taken_for_a_batch",
    place="axes of the mask",
    en="A mask with three axes gets an axis for the heads put in, as if its first one were the batch. By the rules of "
    "broadcasting, which axis does it belong to?",
    zh="三个轴的遮罩被插进了一个头的轴，好像它的第一个轴一定是 batch。按照广播规则，它对应的是哪一个轴？",
)
MASK_OVERWRITTEN = Fault(
    "mask_overwritten",
    place="inverting the mask",
    en="The caller's mask is changed in place. `contiguous()`, `to()` and `expand()` need not copy: which operation "
    "always makes a new tensor?",
    zh="调用者的遮罩被原地修改了。`contiguous()`、`to()` 和 `expand()` 都不一定会复制：哪种写法总会得到一个新张量？",
    seen_in=("exercism/python#1874",),
)
KEY_FOR_VALUE = Fault(
    "key_for_value",
    place="weighted sum",
    en="The weights are applied to the keys. Keys decide how much is read; what is it that is read?",
    zh="权重乘到了 key 上。key 决定的是读多少，那么读到的内容是什么？",
)
DETACHED = Fault(
    "detached",
    place="gradients",
    en="The weights are cut off from the graph (`detach`, `.data`, NumPy or `no_grad`), so nothing reaches query and "
    "key. How would they learn where to look?",
    zh="权重从计算图上断开了（`detach`、`.data`、转成 NumPy 或 `no_grad`），梯度到不了 query 和 key。"
    "它们要怎样学会该看哪里？",
    seen_in=("r9y9/tacotron_pytorch#16",),
)
RETURNED_WEIGHTS_DETACHED = Fault(
    "returned_weights_detached",
    place="gradients",
    en="The output carries its gradient, but the weights that are returned do not. A loss on the weights would teach "
    "nothing.",
    zh="输出能传回梯度，返回的权重却不能。如果损失函数用到了权重，就什么也学不到。",
)
D_V_HELD_TO_D_K = Fault(
    "d_v_held_to_d_k",
    place="width of the values",
    en="Values of another width than the keys are refused. Where do d_k and d_v meet?",
    zh="value 的宽度和 key 不同就会报错。d_k 和 d_v 在哪一步会碰到一起？",
    seen_in=("lucidrains/flash-attention-jax#15", "AlphaGPU/leetgpu-challenges#69"),
)
LEADING_DIMENSIONS_MUST_AGREE = Fault(
    "leading_dimensions_must_agree",
    place="leading dimensions",
    en="Leading dimensions that differ are refused, also where they broadcast: one set of keys for many queries is "
    "legal.",
    zh="前导维度只要不同就会报错，能广播的也不行：很多查询共用一组 key 是合法的。",
    seen_in=("pytorch/pytorch#64888",),
)
WEIGHTS_WITHOUT_THE_DIMENSIONS_OF_THE_VALUES = Fault(
    "weights_without_the_dimensions_of_the_values",
    place="leading dimensions",
    en="The weights have the leading dimensions of query and key, not those that only the values have. The exercise "
    "asks for all three together.",
    zh="权重的前导维度只来自 query 和 key，少了只有 value 才有的那些。题目要求的是三者一起广播。",
)
BATCH_OF_ONE_DROPPED = Fault(
    "batch_of_one_dropped",
    place="leading dimensions of the result",
    en="A batch of one loses its axis on the way out (`squeeze`). Was that axis yours to remove?",
    zh="只有一个样本的 batch，返回时轴被去掉了（`squeeze`）。这个轴是你自己加的吗？",
    seen_in=("allenai/allennlp#3599", "NVIDIA/tacotron2#303"),
)
VIEWED = Fault(
    "viewed",
    place="memory layout",
    en="`view` is used where the numbers need not lie in order, as after a transpose or an expand, and raises an "
    "error. Which operation copies when it has to?",
    zh="数据在内存里不一定按顺序排列（比如转置或 expand 之后），这时用 `view` 会报错。哪种操作会在必要时自动复制？",
    seen_in=("facebookresearch/fairseq#2598",),
)
MASK_DTYPE_NOT_CHECKED = Fault(
    "mask_dtype_not_checked",
    place="refusal of masks",
    en="A mask that is not boolean is accepted. An additive one (0 and -inf) or one of 0 and 1 would be read in ways "
    "that nobody meant.",
    zh="不是布尔型的遮罩也照收不误。由 0 和 -inf 组成的加性遮罩，或者由 0 和 1 组成的遮罩，"
    "就可能被读成谁也没想到的意思。",
    seen_in=("pytorch/pytorch#92554", "pytorch/pytorch#24180"),
)
WHOLE_NUMBERS_ACCEPTED_AS_A_MASK = Fault(
    "whole_numbers_accepted_as_a_mask",
    place="refusal of masks",
    en="A floating mask is refused, but one of whole numbers is not. Ask what the mask is, not what it is not.",
    zh="浮点遮罩会报错，整数遮罩却不会。要问的是遮罩是什么，而不是它不是什么。",
    seen_in=("pytorch/pytorch#24180",),
)
SIZES_NOT_CHECKED = Fault(
    "sizes_not_checked",
    place="refusal of sizes",
    en="Sizes that do not fit are left to the product of matrices, whose error is no ValueError and does not say "
    "whether d_k or n_keys is wrong.",
    zh="大小对不上时全靠矩阵乘法自己报错，既不是 ValueError，也说不清错的是 d_k 还是 n_keys。",
    seen_in=("pytorch/pytorch#193728",),
)

Tensor = torch.Tensor
HALVES = (torch.float16, torch.bfloat16)
FILLS = {
    FILLED_WITH_MINUS_100: -100.0,
    FILLED_WITH_ALMOST_ZERO: 1e-9,
    FILLED_WITH_MINUS_1E9: -1e9,
    FILLED_WITH_MINUS_10000: -1e4,
}


def attention(
    query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None, *, faults: Faults = NONE
) -> tuple[Tensor, Tensor]:
    """Return output `(..., n_queries, d_v)` and weights `(..., n_queries, n_keys)`, wrong in the ways of `faults`."""
    refuse(query, key, value, allowed, faults)
    if VIEWED in faults:
        key, value = (tensor.view(-1, tensor.shape[-1]).view(tensor.shape) for tensor in (key, value))
    leading = leading_of(query, key, value, faults)
    divisor = divisor_of(key.shape[-1], value.shape[-1], key.shape[-2], leading, faults)
    scores = scores_of(query, key, divisor, leading, faults)
    if allowed is None or (MASK_OF_NOTHING_TAKEN_FOR_NONE in faults and not allowed.any()):
        weights = softmax(scores, None, faults)
    else:
        weights = weights_of(scores, blocked_of(allowed, scores.shape, faults), divisor, faults)
    return results_of(weights, key if KEY_FOR_VALUE in faults else value, faults)


def refuse(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, faults: Faults) -> None:
    """Refuse masks that are not boolean, and sizes that do not fit."""
    if allowed is not None and allowed.dtype != torch.bool and not accepted(allowed, faults):
        raise TypeError(f"allowed must be boolean, not {allowed.dtype}")
    if query.shape[-1] != key.shape[-1] and SIZES_NOT_CHECKED not in faults:
        raise ValueError(f"query and key differ in d_k: {query.shape[-1]} and {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2] and SIZES_NOT_CHECKED not in faults:
        raise ValueError(f"key and value differ in n_keys: {key.shape[-2]} and {value.shape[-2]}")
    if D_V_HELD_TO_D_K in faults and key.shape[-1] != value.shape[-1]:
        raise ValueError("key and value differ in width")
    if LEADING_DIMENSIONS_MUST_AGREE in faults and not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError("query, key and value differ in their leading dimensions")


def accepted(allowed: Tensor, faults: Faults) -> bool:
    """Tell whether a fault lets a mask pass that is not boolean."""
    if MASK_DTYPE_NOT_CHECKED in faults:
        return True
    return WHOLE_NUMBERS_ACCEPTED_AS_A_MASK in faults and not allowed.is_floating_point()


def leading_of(query: Tensor, key: Tensor, value: Tensor, faults: Faults) -> torch.Size:
    """Broadcast the leading dimensions together."""
    whose = [query, key] if WEIGHTS_WITHOUT_THE_DIMENSIONS_OF_THE_VALUES in faults else [query, key, value]
    # torch.broadcast_shapes would import sympy first.
    return torch.broadcast_tensors(*(tensor.new_empty(tensor.shape[:-2]) for tensor in whose))[0].shape


def divisor_of(d_k: int, d_v: int, n_keys: int, leading: torch.Size, faults: Faults) -> float:
    """Choose what the scores are divided by."""
    n_heads = leading[-1] if leading else 1
    wrong = {
        SCALE_MISSING: 1.0,
        SCALED_BY_D_K: float(d_k),
        SCALED_BY_THE_ROOT_OF_D_V: math.sqrt(d_v),
        SCALED_BY_THE_ROOT_OF_N_KEYS: math.sqrt(max(1, n_keys)),
        SCALED_BY_THE_ROOT_OF_D_MODEL: math.sqrt(n_heads * d_k),
        SCALED_BY_A_WHOLE_NUMBER: float(math.isqrt(d_k)),
        SCALED_BY_HALF_OF_D_K: d_k / 2,
        SCALE_MULTIPLIED: 1.0 / math.sqrt(d_k),
    }
    return next((divisor for fault, divisor in wrong.items() if fault in faults), math.sqrt(d_k))


def scores_of(query: Tensor, key: Tensor, divisor: float, leading: torch.Size, faults: Faults) -> Tensor:
    """Give query @ key^T / divisor, `(..., n_queries, n_keys)`."""
    if KEY_RESHAPED in faults:
        across = key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])
    else:
        across = key.transpose(-2, -1)
    if SCALED_AFTER_THE_PRODUCT in faults:
        return query.expand(*leading, -1, -1) @ across / divisor
    # Scaled before the product, which could overflow in half precision.
    scaled = query.div_(divisor) if QUERY_OVERWRITTEN in faults else query / divisor
    return scaled.expand(*leading, -1, -1) @ across


def blocked_of(allowed: Tensor, shape: torch.Size, faults: Faults) -> Tensor:
    """Turn the mask round and give it the shape of the scores: True where the query may not read the key."""
    allowed = allowed.bool()
    if THREE_AXES_TAKEN_FOR_A_BATCH in faults and allowed.dim() == 3 and len(shape) == 4:
        allowed = allowed.unsqueeze(1)
    is_row = allowed.dim() == 1 or (allowed.dim() > 1 and allowed.shape[-2] == 1)
    if MASK_OF_THE_QUERIES in faults and is_row and shape[-2] == allowed.shape[-1]:
        allowed = torch.atleast_2d(allowed).transpose(-2, -1)
    allowed = allowed.broadcast_to(shape)
    blocked = allowed.contiguous().logical_not_() if MASK_OVERWRITTEN in faults else ~allowed
    return ~blocked if POLARITY_INVERTED in faults else blocked


def weights_of(scores: Tensor, blocked: Tensor, divisor: float, faults: Faults) -> Tensor:
    """Let the softmax run over what may be read, and give fully masked rows the weights 0."""
    if MASK_WITHOUT_EFFECT in faults:
        return softmax(scores, None, faults)
    if MASKED_EXPONENTIALS_DROPPED in faults:
        weights = softmax(scores, blocked, faults)
    else:
        weights = softmax(masked(scores, blocked, divisor, faults), None, faults)
    if ZEROED_WITHOUT_RENORMALISING in faults or RENORMALISED_AFTER_THE_SOFTMAX in faults:
        weights = weights * ~blocked
    if RENORMALISED_AFTER_THE_SOFTMAX in faults:
        weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-12)
    return treated(weights, blocked, faults)


def masked(scores: Tensor, blocked: Tensor, divisor: float, faults: Faults) -> Tensor:
    """Put -inf where the query may not read the key, or what a fault does there."""
    if MASK_MULTIPLIED in faults:
        return scores * ~blocked
    if MASK_ADDED in faults:
        return scores + (~blocked).to(scores.dtype)
    if ZEROED_WITHOUT_RENORMALISING in faults or RENORMALISED_AFTER_THE_SOFTMAX in faults:
        return scores
    if MINUS_INFINITY_ADDED in faults:
        return scores + torch.zeros_like(scores).masked_fill(blocked, -math.inf)
    if TEN_THOUSAND_LESS_IN_HALF_PRECISION in faults and scores.dtype in HALVES:
        return scores + blocked.to(scores.dtype) * -1e4
    if FILLED_BEFORE_SCALING in faults:
        return scores.masked_fill(blocked, -100.0 / divisor)
    fill = next((value for fault, value in FILLS.items() if fault in faults), -math.inf)
    return scores.masked_fill(blocked, fill)


def softmax(scores: Tensor, dropped: Tensor | None, faults: Faults) -> Tensor:
    """Share out 1 along the keys. The exponentials of the scores that are `dropped` are set to 0."""
    dim = axis_of(scores, faults)
    wide = scores.double() if scores.dtype == torch.float64 and SOFTMAX_IN_FLOAT32 not in faults else scores.float()
    readable = wide.detach()
    if dropped is not None:
        readable = readable.masked_fill(dropped & ~dropped.all(dim=dim, keepdim=True), -math.inf)
    exponentials = (wide - peak_of(readable, dim, faults)).exp()
    if dropped is None:
        return (exponentials / exponentials.sum(dim=dim, keepdim=True)).to(scores.dtype)
    kept = exponentials.masked_fill(dropped, 0.0)
    total = kept.sum(dim=dim, keepdim=True)
    return (kept / total.masked_fill(total == 0, 1.0)).to(scores.dtype)


def axis_of(scores: Tensor, faults: Faults) -> int:
    """Choose the axis of the softmax."""
    if SOFTMAX_OVER_QUERIES in faults:
        return -2
    return 1 if SOFTMAX_OVER_AXIS_ONE in faults else -1


def peak_of(scores: Tensor, dim: int, faults: Faults) -> Tensor:
    """Choose what is subtracted before the exponential."""
    if scores.shape[-1] == 0 and NOTHING_HAS_NO_MAXIMUM not in faults:
        return torch.zeros(())
    if NO_SHIFT in faults:
        return torch.zeros((), dtype=scores.dtype)
    if SHIFTED_BY_THE_WHOLE in faults:
        return scores.amax()
    return scores.amax(dim=dim, keepdim=True)


def treated(weights: Tensor, blocked: Tensor, faults: Faults) -> Tensor:
    """Give a fully masked row its weights."""
    dead = blocked.all(dim=-1, keepdim=True)
    if UNTREATED_WHERE_NOTHING_IS_LEFT in faults:
        return weights
    if UNIFORM_WHERE_NOTHING_IS_LEFT in faults:
        return weights.masked_fill(dead, 1.0 / max(1, weights.shape[-1]))
    if ZERO_WHERE_ANYTHING_IS_MASKED in faults:
        dead = blocked.any(dim=-1, keepdim=True)
    # Over the queries a key that nobody may read is NaN too, and nearly all code that mends rows mends that with them.
    return weights.masked_fill(dead | (blocked & weights.isnan()), 0.0)


def results_of(weights: Tensor, value: Tensor, faults: Faults) -> tuple[Tensor, Tensor]:
    """Read the values, and hand both results over."""
    if DETACHED in faults:
        weights = weights.detach()
    output = weights @ value
    if RETURNED_WEIGHTS_DETACHED in faults:
        weights = weights.detach()
    if FLOAT32_FOR_HALF_PRECISION in faults and weights.dtype in HALVES:
        output, weights = output.float(), weights.float()
    if BATCH_OF_ONE_DROPPED in faults and weights.dim() == 3 and len(weights) == 1:
        output, weights = output.squeeze(0), weights.squeeze(0)
    return output, weights


def float64(*rows: Any) -> Tensor:
    """Make a matrix (or more) of rows."""
    return torch.tensor(rows, dtype=torch.float64)


def mask(*rows: str) -> Tensor:
    """Read a mask from words of 1 (may be read) and 0."""
    return torch.tensor([[cell == "1" for cell in row] for row in rows])


ONE = float64([1.0])
ONES = float64([1.0], [1.0])
TWO = float64([0.0], [1.0])
THREE = float64([1.0], [-1.0], [0.5])
VALUES = float64([1.0], [4.0], [16.0])
FIVE_WIDE = float64([1.0, 0.0, 2.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0, -1.0])
TWO_KEYS = float64([1.0, 0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0])
TWO_VALUES = float64([1.0, 0.0, 2.0], [0.0, 3.0, 1.0])
HEADS = float64([[[0.0], [1.0]], [[0.0], [2.0]], [[0.0], [3.0]]])
OF_WEIGHTS = float64([0.0, 0.0, 0.0], [1.0, 0.0, 0.0])
# One query may read the first key and the other the second, whichever way round the mask is read.
ONE_EACH = mask("10", "01")


def _attend(module: Any, query: Tensor, *others: Tensor) -> Any:
    """Ask for both results, and keep the query from being written to."""
    return module.attention(query.clone(), *others)


def _weights(module: Any, query: Tensor, key: Tensor, allowed: Tensor) -> Any:
    """Ask for the weights alone; the values are as wide as the keys."""
    return _attend(module, query, key, torch.ones_like(key), allowed)[1]


def _gradients(module: Any, *arguments: Tensor, of_output: Any = None, of_weights: Any = None) -> Any:
    """Ask what flows back to key and value."""
    cotangents = (of_output, of_weights)
    return list(module.gradients("attention", *arguments, cotangents=cotangents, wrt=(1, 2)).arguments)


def _which_weights_are_alike(module: Any) -> Any:
    weights = _weights(module, ONES, float64([0.0], [1.0], [2.0]), mask("100", "011"))
    (one, two, three), (below, beside, _) = weights.tolist()
    return [one == two, two == three, two == 0.0, below == one, below == beside]


def _is_float32(module: Any) -> Any:
    """Tell whether the weights have no more digits than float32 can hold."""
    _, weights = _attend(module, TWO, THREE, VALUES)
    return bool((weights.float() == weights).all())


def _modified(module: Any, *arguments: Tensor) -> Any:
    _attend(module, *arguments)
    return bool(module.last.modified)


def _without_order(module: Any) -> Any:
    """Give values that do not lie in memory as they are read."""
    values = float64([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]).transpose(0, 1)
    return _attend(module, float64([1.0, 0.0]).repeat(2, 1, 1), values, values)


def _large_in_float16(module: Any) -> Any:
    query, key = torch.full((1, 5), 125.0).half(), float64([112.0] * 5, [125.0] * 5).half()
    return _attend(module, query, key, TWO_KEYS.half())


def _huge_in_bfloat16(module: Any) -> Any:
    return _weights(module, ONES.bfloat16(), float64([1.0], [1e30]).bfloat16(), ONE_EACH)


NO_NAN = "masked weights are 0 after the exponential, in a fully masked row too, so that no NaN appears"
# What hides what: (the fault that hides, why, the faults that show no more beside it).
HIDDEN = (
    (
        SCALE_MISSING,
        "what is not divided is not divided too late or in place either",
        (
            SCALED_AFTER_THE_PRODUCT,
            QUERY_OVERWRITTEN,
        ),
    ),
    (SOFTMAX_OVER_QUERIES, "the maximum is taken over the queries, and there are some", (NOTHING_HAS_NO_MAXIMUM,)),
    (NO_SHIFT, "no maximum is taken", (NOTHING_HAS_NO_MAXIMUM,)),
    (NO_SHIFT, "an exponential overflows long before the product does", (SCALED_AFTER_THE_PRODUCT,)),
    (NO_SHIFT, "the exponential of -10000 is 0 like those below it, masked or not", (FILLED_WITH_MINUS_10000,)),
    (
        POLARITY_INVERTED,
        "read the other way round, a mask without a True allows everything, as no mask does",
        (MASK_OF_NOTHING_TAKEN_FOR_NONE,),
    ),
    (
        MASK_WITHOUT_EFFECT,
        "a mask without effect has none whatever it says",
        (
            POLARITY_INVERTED,
            UNTREATED_WHERE_NOTHING_IS_LEFT,
            UNIFORM_WHERE_NOTHING_IS_LEFT,
            ZERO_WHERE_ANYTHING_IS_MASKED,
            MASK_OF_NOTHING_TAKEN_FOR_NONE,
            MASK_OF_THE_QUERIES,
        ),
    ),
    (
        ZERO_WHERE_ANYTHING_IS_MASKED,
        "a row with anything masked becomes 0 however it was masked",
        (
            MASK_MULTIPLIED,
            MASK_ADDED,
            ZEROED_WITHOUT_RENORMALISING,
            RENORMALISED_AFTER_THE_SOFTMAX,
            FILLED_WITH_MINUS_100,
            FILLED_BEFORE_SCALING,
            FILLED_WITH_ALMOST_ZERO,
            FILLED_WITH_MINUS_10000,
            TEN_THOUSAND_LESS_IN_HALF_PRECISION,
        ),
    ),
    (
        DETACHED,
        "what would go wrong on the way back to query and key is cut off",
        (
            MASKED_EXPONENTIALS_DROPPED,
            MINUS_INFINITY_ADDED,
        ),
    ),
    (D_V_HELD_TO_D_K, "d_v is d_k wherever there is a result", (SCALED_BY_THE_ROOT_OF_D_V,)),
    (ZEROED_WITHOUT_RENORMALISING, NO_NAN, (UNTREATED_WHERE_NOTHING_IS_LEFT,)),
    (RENORMALISED_AFTER_THE_SOFTMAX, NO_NAN, (UNTREATED_WHERE_NOTHING_IS_LEFT,)),
    (MASKED_EXPONENTIALS_DROPPED, NO_NAN, (UNTREATED_WHERE_NOTHING_IS_LEFT,)),
)
# Which two come to the same beside others: (the one, the other, why, the others).
ALIKE = (
    (
        UNTREATED_WHERE_NOTHING_IS_LEFT,
        UNIFORM_WHERE_NOTHING_IS_LEFT,
        "the softmax of a row of equal finite numbers is uniform of itself",
        (
            MASK_MULTIPLIED,
            FILLED_WITH_MINUS_100,
            FILLED_BEFORE_SCALING,
            FILLED_WITH_ALMOST_ZERO,
            FILLED_WITH_MINUS_1E9,
            FILLED_WITH_MINUS_10000,
        ),
    ),
    (FILLED_WITH_MINUS_100, FILLED_BEFORE_SCALING, "without a division there is no before and after", (SCALE_MISSING,)),
    (MASK_MULTIPLIED, FILLED_WITH_ALMOST_ZERO, "float32 holds no number between 1 and 1 + 1e-9", (SOFTMAX_IN_FLOAT32,)),
)
SAME = (
    *(Same(frozenset({by, one}), frozenset({by}), why) for by, why, hidden in HIDDEN for one in hidden),
    *(
        Same(frozenset({one, third}), frozenset({other, third}), why)
        for one, other, why, beside in ALIKE
        for third in beside
    ),
)

FAMILY = Family(
    "attention",
    {"attention": attention},
    faults=tuple(value for value in list(globals().values()) if isinstance(value, Fault)),
    probes=(
        Probe("one query", lambda module: _attend(module, ONE, TWO, VALUES[:2])),
        Probe("vectors of five", lambda module: _attend(module, FIVE_WIDE, TWO_KEYS, TWO_VALUES)),
        Probe("a mask", lambda module: _attend(module, TWO, THREE, VALUES, mask("110", "011"))),
        Probe("a row with nothing to read", lambda module: _attend(module, TWO, THREE, VALUES, mask("110", "000"))),
        Probe("nothing to read", lambda module: _attend(module, ONE, TWO, VALUES[:2], mask("00"))),
        Probe("a mask of the keys", lambda module: _attend(module, THREE, THREE, VALUES, mask("110"))),
        Probe("which weights are alike", _which_weights_are_alike),
        Probe("a low score", lambda module: _weights(module, ONES, float64([-200.0], [0.0]), ONE_EACH)),
        Probe("two very low scores", lambda module: _weights(module, ONES, -3e4 * ONES, ONE_EACH)),
        Probe(
            "two low scores of five terms",
            lambda module: _weights(module, ONES.expand(2, 5), -18.0 * ONES.expand(2, 5), ONE_EACH),
        ),
        Probe("rows far apart", lambda module: _attend(module, TWO, float64([1e5], [100001.0]), VALUES[:2])),
        Probe("a batch of one", lambda module: _attend(module, ONE[None], TWO[None], VALUES[None, :2])),
        Probe("a batch of values", lambda module: _attend(module, ONE, TWO, torch.stack([TWO, VALUES[1:]]))),
        Probe(
            "a mask for each head",
            lambda module: _attend(
                module,
                HEADS,
                TWO.repeat(1, 3, 1, 1),
                VALUES[:2].repeat(1, 3, 1, 1),
                mask("10", "01", "11")[:, None],
            ),
        ),
        Probe(
            "gradients of a weight",
            lambda module: _gradients(module, TWO, THREE, VALUES, mask("111", "110"), of_weights=OF_WEIGHTS),
        ),
        Probe(
            "gradients beside a masked row",
            lambda module: _gradients(module, ONES, THREE, VALUES, mask("110", "000"), of_output=float64([1.0], [0.0])),
        ),
        Probe(
            "gradients beside a huge score",
            lambda module: _gradients(module, ONES, float64([1.0], [1e5]), VALUES[:2], ONE_EACH, of_output=ONES),
        ),
        Probe("float16", lambda module: _attend(module, ONE.half(), TWO.half(), VALUES[:2].half(), mask("10"))),
        Probe("a huge masked key in bfloat16", _huge_in_bfloat16),
        Probe("large numbers in float16", _large_in_float16),
        Probe("digits", _is_float32),
        Probe("no keys", lambda module: _attend(module, ONE, ONE[:0], ONE[:0])),
        Probe("a mask of floats", lambda module: _attend(module, ONE, TWO, VALUES[:2], mask("10").double())),
        Probe("a mask of whole numbers", lambda module: _attend(module, ONE, TWO, VALUES[:2], mask("10").int())),
        Probe("a value too many", lambda module: _attend(module, ONE, TWO, VALUES)),
        Probe("transposed values", _without_order),
        Probe("is the query as it was", lambda module: _modified(module, FIVE_WIDE, TWO_KEYS, TWO_KEYS)),
        Probe("is the mask as it was", lambda module: _modified(module, ONE, TWO, VALUES[:2], mask("10"))),
    ),
    same=SAME,
)
