"""The hidden checks of multi_head, 25 points.

Weights are always given, by name: nothing depends on how a module draws its own. Where projections and scale are not
the question, modules are of two simple kinds, so that a slip there costs few checks and not all. A "plain" one passes
everything through, and its heads are one feature wide, where the scale is 1. A "reading" one asks nothing: its queries
and keys are 0, and every output is the mean of what was read. The values 1, 4 and 16 tell by their mean which keys
those were.
"""

import torch

from autograder.checks import (
    assert_close,
    assert_equal,
    assert_unshared,
    assert_untouched,
    hint,
    insist,
    points,
    promise,
    raises,
    say,
    seen_in,
    stays,
)

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
LAYERS = ("q_proj", "k_proj", "v_proj", "out_proj")
VALUES = torch.tensor([1.0, 4.0, 16.0], dtype=torch.float64)


def normal(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape))


def mask(*rows):
    """Read a mask from words of 1 (may be read) and 0."""
    return torch.tensor([[cell == "1" for cell in row] for row in rows])


def drawn(rng, d_model, bias=True):
    """Draw a state dict, the biases too."""
    state = {f"{layer}.weight": normal(rng, d_model, d_model) / d_model**0.5 for layer in LAYERS}
    return state | ({f"{layer}.bias": normal(rng, d_model) for layer in LAYERS} if bias else {})


def plain(d_model, bias=True):
    """Make a state dict that passes everything through."""
    state = {f"{layer}.weight": torch.eye(d_model, dtype=torch.float64) for layer in LAYERS}
    return state | ({f"{layer}.bias": torch.zeros(d_model, dtype=torch.float64) for layer in LAYERS} if bias else {})


def reading(d_model, bias=True):
    """Make a state dict that gives every readable key the same weight and passes values through."""
    nothing = torch.zeros(d_model, d_model, dtype=torch.float64)
    return plain(d_model, bias) | {"q_proj.weight": nothing, "k_proj.weight": nothing}


def made(learner, state, n_heads, dtype="float64", **options):
    """Make the learner's module with these weights, in training mode as modules are when they are new."""
    return learner.new_loaded("MultiHeadAttention", state, dtype, state["q_proj.weight"].shape[0], n_heads, **options)


def twin(reference, state, n_heads, **options):
    """Make the reference module with the same weights, in float64 and evaluation mode."""
    module = reference.MultiHeadAttention(state["q_proj.weight"].shape[0], n_heads, **options).double()
    module.load_state_dict(state)
    return module.eval()


def in_dtype(result, dtype):
    """Leave the dtype of a result to the check that is about it."""
    return result.to(dtype) if isinstance(result, torch.Tensor) and result.is_floating_point() else result


def largest(tensor):
    return max(1.0, tensor.abs().max().item())


def assert_roughly(actual, expected):
    """Five digits are enough where accuracy is not the question, so that a slip costs one check."""
    expected = expected.detach()
    assert_close(in_dtype(actual, torch.float32), expected, dtype=torch.float32, terms=64, scale=largest(expected))


def both(returned):
    """Take `(output, weights)` apart."""
    is_many = isinstance(returned, tuple | list)
    insist(is_many, say("forward returns (output, weights), not {kind}", kind=type(returned).__name__))
    insist(len(returned) == 2, say("forward returns two things, (output, weights), not {count}", count=len(returned)))
    return returned


def gradients(module, arguments, cotangents, allowed=None):
    """Calculate the gradients of sum(result * cotangent) in this process: of the arguments, and of the parameters."""
    leaves = [argument.detach().requires_grad_() for argument in arguments]
    parameters = dict(module.named_parameters())
    results = module(*leaves, allowed=allowed)
    total = sum((result * cotangent).sum() for result, cotangent in zip(results, cotangents, strict=True))
    found = torch.autograd.grad(total, [*leaves, *parameters.values()])
    return found[: len(leaves)], dict(zip(parameters, found[len(leaves) :], strict=True))


def assert_has_just(found, expected):
    """Compare what a module has, by name, with what it should have: nothing else, and nothing missing."""
    for name, right in expected.items():
        insist(name in found, say("the module has no {name}", name=name))
        insist(found[name] == right, say("{name} is {found}, not {right}", name=name, found=found[name], right=right))
    for name in found:
        insist(name in expected, say("the module has {name}, which it should not have", name=name))


def assert_gradients(found, expected):
    """Compare the gradients of the arguments, then those of the parameters by name."""
    of_arguments, of_parameters = expected
    for actual, right in zip(found.arguments, of_arguments, strict=True):
        assert_roughly(actual, right)
    for name, right in of_parameters.items():
        assert_roughly(found.parameters.get(name), right)


def assert_it_reads(module, rng, d_model):
    """Make sure that the module does what it is for: no check is passed by refusing or by doing nothing."""
    query, key = normal(rng, 2, 4, d_model), normal(rng, 2, 5, d_model)
    output, _ = both(module(query, key))
    assert_roughly(output, key.mean(dim=1, keepdim=True).expand(2, 4, d_model))


@points(2)
@promise("names", "split")
@hint("multi_head.split")
@seen_in("reczoo/FuxiCTR#30", "hyunwoongko/transformer#15", "bentrevett/pytorch-seq2seq#148")
def test_splitting_gives_each_head_its_slice_of_the_features(learner, reference, rng):
    two_positions = torch.arange(8, dtype=torch.float64).reshape(1, 2, 4)
    heads = torch.tensor([[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]], dtype=torch.float64)
    assert_equal(learner.split_heads(two_positions, 2), heads)
    cases = [((2, 4), 2), ((2, 2, 4), 2), ((2, 4, 15), 3), ((2, 4, 15), 5), ((2, 4, 15), 15), ((2, 4, 15), 1)]
    for shape, n_heads in [*cases, ((2, 3, 4, 15), 5), ((1, 1, 512), 8)]:
        x = normal(rng, *shape)
        assert_equal(learner.split_heads(x, n_heads), reference.split_heads(x, n_heads))


@points(0.5)
@promise("split_error")
@hint("multi_head.divides")
@seen_in("pytorch/pytorch#28719", "keras-team/keras-hub#1198", "rasbt/LLMs-from-scratch#444")
def test_features_that_do_not_divide_cannot_be_split(learner, reference, rng):
    for d_model, n_heads in ((3, 2), (10, 3), (2, 8)):
        with raises(ValueError, naming=("n_heads", "d_model", "x")):
            learner.split_heads(torch.zeros(2, 4, d_model), n_heads)
    x = normal(rng, 2, 4, 6)
    assert_equal(learner.split_heads(x, 3), reference.split_heads(x, 3))


@points(1.5)
@promise("merge")
@hint("multi_head.merge")
@seen_in("jsbaan/transformer-from-scratch#6", "ajhalthor/Transformer-Neural-Network#4", "meta-pytorch/opacus#825")
def test_merging_takes_splitting_back(learner, reference, rng):
    heads = torch.tensor([[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]], dtype=torch.float64)
    assert_equal(learner.merge_heads(heads), torch.arange(8, dtype=torch.float64).reshape(1, 2, 4))
    for shape in ((2, 2, 2), (3, 4, 5), (2, 3, 4, 5), (2, 1, 4, 5), (2, 3, 1, 5), (2, 3, 4, 1), (2, 2, 3, 4, 5)):
        heads = normal(rng, *shape)
        assert_equal(learner.merge_heads(heads), reference.merge_heads(heads))


@points(0.5)
@promise("layout")
@hint("multi_head.layout")
@seen_in("facebookresearch/fairseq#2598", "NVIDIA/Megatron-LM#875", "pytorch/TensorRT#3823")
def test_any_memory_layout_is_legal(learner, reference, rng):
    transposed, sliced = normal(rng, 4, 2, 6).transpose(0, 1), normal(rng, 2, 8, 12)[:, ::2, 1::2]
    expanded = normal(rng, 1, 4, 1).expand(2, 4, 6)
    for x in (transposed, sliced, expanded):
        assert_equal(learner.split_heads(x, 3), reference.split_heads(x, 3))
        heads = reference.split_heads(x, 3)
        assert_equal(learner.merge_heads(heads), x.contiguous())
    module, right = made(learner, reading(6), 3), twin(reference, reading(6), 3)
    for query, key, allowed in ((transposed, sliced, None), (sliced, expanded, mask("1").expand(4, 4))):
        assert_roughly(both(module(query, key, allowed=allowed))[0], right(query, key, allowed=allowed)[0])


@points(1.5)
@promise("module", "state")
@hint("multi_head.layers")
@stays(
    "a layer of another kind, or a buffer that is not saved, computes like the right one; only the description shows it"
)
def test_the_module_is_made_of_four_linear_layers(learner, rng):
    for d_model, n_heads in ((6, 2), (15, 3)):
        description = learner.new("MultiHeadAttention", d_model, n_heads).description
        insist(description.is_module, say("MultiHeadAttention is not an nn.Module"))
        shapes = {f"{layer}.weight": (d_model, d_model) for layer in LAYERS}
        shapes |= {f"{layer}.bias": (d_model,) for layer in LAYERS}
        assert_has_just(description.parameters, shapes)
        assert_has_just(dict.fromkeys(description.buffers, "buffer"), {})
        kinds = {layer: description.children.get(layer) for layer in LAYERS}
        assert_has_just(kinds, dict.fromkeys(LAYERS, "Linear"))
        assert_it_reads(made(learner, reading(d_model), n_heads), rng, d_model)


@points(1)
@promise("state")
@hint("multi_head.state")
@seen_in("neetcode-gh/leetcode#5169", "neetcode-gh/leetcode#5219")
def test_a_state_dict_with_these_names_loads_in_any_order(learner, rng):
    state = drawn(rng, 6)
    for names in (sorted(state), sorted(state, reverse=True)):
        module = made(learner, {name: state[name] for name in names}, 3)
        found = module.state()
        assert_has_just(dict.fromkeys(found), dict.fromkeys(state))
        for name, tensor in state.items():
            assert_equal(found[name], tensor)
        # What is loaded after a call counts too.
        module(normal(rng, 2, 4, 6))
        module.load(reading(6))
        assert_it_reads(module, rng, 6)


@points(0.5)
@promise("bias", "module")
@hint("multi_head.bias")
@seen_in("pytorch/pytorch#97128", "neetcode-gh/leetcode#5219")
def test_without_bias_none_of_the_layers_has_one(learner, rng):
    for bias in (False, True):
        module = made(learner, reading(6, bias), 3, bias=bias)
        assert_has_just(dict.fromkeys(module.description.parameters), dict.fromkeys(reading(6, bias)))
        assert_it_reads(module, rng, 6)


@points(0.5)
@promise("constructor_error")
@hint("multi_head.divides")
@seen_in("pytorch/pytorch#28719", "Pang-Yatian/Point-MAE#24", "rasbt/LLMs-from-scratch#444")
def test_a_width_that_does_not_divide_is_refused_by_the_constructor(learner, rng):
    for d_model, n_heads in ((3, 2), (10, 3), (2, 8)):
        with raises(ValueError, naming=("n_heads", "d_model")):
            learner.new("MultiHeadAttention", d_model, n_heads)
    assert_it_reads(made(learner, reading(6), 3), rng, 6)


@points(3)
@promise("agrees", "own_attention")
@hint("multi_head.projections")
@seen_in(
    "lucidrains/vit-pytorch#65",
    "rasbt/LLMs-from-scratch#857",
    "pytorch/pytorch#122959",
    "aladdinpersson/Machine-Learning-Collection#165",
    "neetcode-gh/leetcode#5169",
)
def test_the_output_agrees_with_the_same_weights_elsewhere(learner, reference, rng):
    cases = [(1, 2, 1, 1, 1), (2, 2, 2, 2, 1), (3, 3, 3, 6, 3), (4, 6, 2, 15, 3)]
    for n_queries, n_keys, batch, d_model, n_heads in cases:
        state = drawn(rng, d_model)
        query, key = normal(rng, batch, n_queries, d_model), normal(rng, batch, n_keys, d_model)
        value = normal(rng, batch, n_keys, d_model)
        output, _ = both(made(learner, state, n_heads)(query, key, value))
        assert_roughly(output, twin(reference, state, n_heads)(query, key, value)[0])


@points(1)
@promise("forward", "shapes")
@hint("multi_head.defaults")
def test_the_key_defaults_to_the_query_and_the_value_to_the_key(learner, reference, rng):
    module, right = made(learner, plain(2), 2), twin(reference, plain(2), 2)
    query, key, value = normal(rng, 2, 4, 2), normal(rng, 2, 4, 2), normal(rng, 2, 4, 2)
    assert_roughly(both(module(query))[0], right(query, query, query)[0])
    assert_roughly(both(module(query, key))[0], right(query, key, key)[0])
    assert_roughly(both(module(query, value=value))[0], right(query, query, value)[0])
    assert_roughly(both(module(value=value, key=key, query=query, allowed=None))[0], right(query, key, value)[0])


@points(1)
@promise("weights", "agrees")
@hint("multi_head.weights")
@seen_in("pytorch/pytorch#34537", "pytorch/pytorch#70055", "facebookresearch/fairseq#3365")
def test_there_is_one_matrix_of_weights_for_each_head(learner, reference, rng):
    causal = torch.ones(4, 6, dtype=torch.bool).tril(2)
    for batch, n_heads, allowed in ((1, 2, None), (2, 3, causal)):
        state = plain(n_heads)
        query, key = normal(rng, batch, 4, n_heads), normal(rng, batch, 6, n_heads)
        _, weights = both(made(learner, state, n_heads)(query, key, allowed=allowed))
        assert_roughly(weights, twin(reference, state, n_heads)(query, key, allowed=allowed)[1])


@points(0.5)
@promise("permutation")
@hint("multi_head.permutation")
@stays("whatever depends on the order of the keys changes plain values too; its hint names the idea")
def test_permuting_keys_and_values_together_changes_nothing(learner, reference, rng):
    module = made(learner, plain(3), 3)
    query, key, value = normal(rng, 2, 4, 3), normal(rng, 2, 5, 3), normal(rng, 2, 5, 3)
    expected, _ = twin(reference, plain(3), 3)(query, key, value)
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 3, 4, 1]):
        assert_roughly(both(module(query, key[:, order], value[:, order]))[0], expected)


@points(1.5)
@promise("polarity", "mask_shape")
@hint("multi_head.polarity")
@seen_in(
    "rasbt/LLMs-from-scratch#1061",
    "pytorch/pytorch#170415",
    "keras-team/keras#23040",
    "karpathy/nanoGPT#473",
    "OpenNMT/OpenNMT-py#120",
)
def test_true_means_that_the_query_may_read_the_key(learner):
    module = made(learner, reading(4), 2)
    cases = [(mask("10"), [1.0]), (mask("011"), [10.0]), (mask("110", "011"), [2.5, 10.0])]
    cases += [(mask("100", "110", "111"), [1.0, 2.5, 7.0]), (mask("011", "101", "110"), [10.0, 8.5, 2.5])]
    cases += [(None, [7.0, 7.0]), (mask("100", "110"), [1.0, 2.5])]
    for allowed, means in cases:
        n_keys = 3 if allowed is None else allowed.shape[-1]
        key = VALUES[:n_keys, None].expand(2, n_keys, 4)
        output, _ = both(module(torch.zeros(2, len(means), 4, dtype=torch.float64), key, allowed=allowed))
        assert_roughly(output, torch.tensor(means, dtype=torch.float64)[:, None].expand(2, len(means), 4))


@points(1.5)
@promise("mask_shape")
@hint("multi_head.mask_of_four_dimensions")
@seen_in(
    "ArrowLuo/CLIP4Clip#22",
    "hyunwoongko/transformer#32",
    "hyunwoongko/transformer#40",
    "lsdefine/attention-is-all-you-need-keras#16",
    "pytorch/pytorch#64706",
)
def test_a_mask_of_four_dimensions_goes_to_its_batch_item_and_head(learner, reference, rng):
    keys_allowed = mask("111110", "110000")[:, None, None, :]
    per_head = mask("100000", "110000", "111111")[None, :, None, :]
    causal = torch.ones(1, 1, 4, 6, dtype=torch.bool).tril(2)
    masks = [keys_allowed, per_head, causal, keys_allowed & causal, keys_allowed & per_head & causal]
    module, right = made(learner, reading(6), 3), twin(reference, reading(6), 3)
    query, key = normal(rng, 2, 4, 6), normal(rng, 2, 6, 6)
    for allowed in masks:
        assert_roughly(both(module(query, key, allowed=allowed))[0], right(query, key, allowed=allowed)[0])
    # As many sequences as heads and as queries: nothing but the place of an axis says what it means.
    query, key = normal(rng, 3, 3, 6), normal(rng, 3, 3, 6)
    for_keys = mask("111", "110", "100")
    for allowed in (for_keys[:, None, None, :], for_keys[None, :, None, :], for_keys[None, None], for_keys):
        assert_roughly(both(module(query, key, allowed=allowed))[0], right(query, key, allowed=allowed)[0])


@points(1)
@promise("mask_error")
@hint("multi_head.mask_error")
@seen_in("pytorch/pytorch#64706", "pytorch/pytorch#97409")
def test_a_mask_of_three_dimensions_is_a_value_error(learner, reference, rng):
    module = made(learner, reading(6), 3)
    query, key = normal(rng, 2, 4, 6), normal(rng, 2, 5, 6)
    for leading in (1, 2, 3):
        with raises(ValueError, naming=("allowed",)):
            module(query, key, allowed=torch.ones(leading, 4, 5, dtype=torch.bool))
    causal = torch.ones(4, 5, dtype=torch.bool).tril(1)
    expected, _ = twin(reference, reading(6), 3)(query, key, allowed=causal)
    for allowed in (causal, causal[None, None]):
        assert_roughly(both(module(query, key, allowed=allowed))[0], expected)


@points(1)
@promise("fully_masked")
@hint("multi_head.fully_masked")
@seen_in("pytorch/pytorch#27968", "huggingface/transformers#26572", "d2l-ai/d2l-en#2423")
def test_a_fully_masked_row_becomes_the_bias_of_the_output_projection(learner, reference, rng):
    state = reading(6) | {"out_proj.bias": normal(rng, 6)}
    module, right = made(learner, state, 3), twin(reference, state, 3)
    x = normal(rng, 2, 4, 6)
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    padded_left = mask("1111", "0011")[:, None, None, :]
    one_head = mask("1111", "0000", "0110")[None, :, None, :]
    for allowed in (causal, causal.tril(-1), causal & padded_left, padded_left & one_head, torch.zeros(4, 4) > 0):
        output, weights = both(module(x, allowed=allowed))
        expected, expected_weights = right(x, allowed=allowed)
        assert_roughly(output, expected)
        assert_roughly(weights, expected_weights)
    assert_roughly(output, state["out_proj.bias"].expand(2, 4, 6))


@points(1.5)
@promise("fully_masked_gradients", "agrees")
@hint("multi_head.fully_masked_gradients")
@seen_in("pytorch/pytorch#41508", "pytorch/pytorch#189045", "lucidrains/nGPT-pytorch#11")
def test_a_fully_masked_row_leaves_the_gradients_alone(learner, reference, rng):
    module, right = made(learner, plain(3), 3), twin(reference, plain(3), 3)
    arguments = normal(rng, 2, 4, 3), normal(rng, 2, 5, 3), normal(rng, 2, 5, 3)
    without_first = torch.ones(4, 5, dtype=torch.bool).tril(-1)
    for allowed in (without_first, without_first & mask("11111", "00110")[:, None, None, :]):
        cotangents = normal(rng, 2, 4, 3), normal(rng, 2, 3, 4, 5)
        found = module.gradients(*arguments, allowed, cotangents=cotangents, wrt=(0, 1, 2))
        assert_roughly(both(found.result)[0], right(*arguments, allowed)[0])
        assert_gradients(found, gradients(right, arguments, cotangents, allowed))
        of_query = found.arguments[0]
        dead = ~allowed.expand(2, 1, 4, 5).any(dim=-1)[:, 0]
        assert_equal(of_query[dead], torch.zeros(int(dead.sum()), 3, dtype=of_query.dtype))


@points(1)
@promise("agrees")
@hint("multi_head.gradients")
@seen_in("pytorch/pytorch#8659", "HomebrewML/Olmax#78")
def test_gradients_reach_every_argument_and_every_parameter(learner, reference, rng):
    causal = torch.ones(4, 5, dtype=torch.bool).tril(1)
    for d_model, n_heads, allowed in ((2, 1, None), (6, 3, None), (6, 3, causal)):
        state = drawn(rng, d_model)
        module, right = made(learner, state, n_heads), twin(reference, state, n_heads)
        arguments = [normal(rng, 2, length, d_model) for length in (4, 5, 5)]
        cotangents = normal(rng, 2, 4, d_model), normal(rng, 2, n_heads, 4, 5)
        found = module.gradients(*arguments, allowed, cotangents=cotangents, wrt=(0, 1, 2))
        assert_roughly(both(found.result)[0], right(*arguments, allowed)[0])
        assert_gradients(found, gradients(right, arguments, cotangents, allowed))
    # What stands in for the key and the value is the query itself.
    x, cotangents = normal(rng, 2, 4, 6), (normal(rng, 2, 4, 6), normal(rng, 2, 3, 4, 4))
    found = module.gradients(x, cotangents=cotangents, wrt=(0,))
    assert_roughly(both(found.result)[0], right(x)[0])
    assert_gradients(found, gradients(right, [x], cotangents))


@points(1.5)
@promise("dropout", "dropout_scale")
@hint("multi_head.dropout")
@seen_in(
    "cs231n/cs231n.github.io#278",
    "huggingface/transformers#31468",
    "pytorch/pytorch#33360",
    "neetcode-gh/leetcode#5808",
)
def test_in_training_dropout_takes_weights_away_and_divides_the_rest(learner, rng):
    n_heads, n_keys, batch, n_queries = 2, 8, 3, 24
    # Each key hands over its own two features in each head, so that the output shows every weight, twice.
    two_features = torch.eye(n_keys, dtype=torch.float64).repeat_interleave(2, dim=1)
    value = two_features.repeat(1, n_heads).expand(batch, -1, -1)
    d_model = value.shape[-1]
    query, key = normal(rng, batch, n_queries, d_model), normal(rng, batch, n_keys, d_model)
    for probability in (0.25, 0.5):
        module = made(learner, reading(d_model), n_heads, dropout=probability)
        output, _ = both(module(query, key, value))
        same = getattr(output, "shape", None) == query.shape
        insist(same, say("the output has another shape than the query"))
        seen = output.reshape(batch, n_queries, n_heads, n_keys, 2).transpose(1, 2)
        kept = seen[..., 0] != 0
        expected = kept.double() / n_keys / (1.0 - probability)
        assert_roughly(seen, expected[..., None].expand(seen.shape))
        # Six standard errors: of a billion right answers two would fall outside, and every run draws the same.
        error = (probability * (1.0 - probability) / kept.numel()) ** 0.5
        share = kept.double().mean().item()
        said = say("with p = {p}, {share} of the weights were kept", p=probability, share=f"{share:.3f}")
        insist(abs(share - (1.0 - probability)) <= 6.0 * error, said)


@points(0.5)
@promise("dropout")
@hint("multi_head.training_only")
@seen_in("pytorch/pytorch#124464", "huggingface/pytorch-image-models#1978", "facebookresearch/vjepa2#160")
def test_in_evaluation_nothing_is_dropped(learner, rng):
    module = made(learner, reading(6), 3, dropout=0.5)
    module.eval()
    assert_it_reads(module, rng, 6)
    module.train()
    module(normal(rng, 2, 4, 6))
    module.eval()
    assert_it_reads(module, rng, 6)


@points(0.5)
@promise("dropout_all")
@hint("multi_head.dropout_of_one")
def test_a_dropout_of_one_leaves_only_the_bias(learner, reference, rng):
    state = reading(6) | {"out_proj.bias": normal(rng, 6)}
    x = normal(rng, 2, 4, 6)
    for probability, expected in (
        (0.0, twin(reference, state, 3)(x)[0]),
        (1.0, state["out_proj.bias"].expand(2, 4, 6)),
    ):
        assert_roughly(both(made(learner, state, 3, dropout=probability)(x))[0], expected)


@points(0.5)
@promise("weights", "dropout")
@hint("multi_head.weights_before_dropout")
@seen_in("pytorch/pytorch#42929", "pytorch/pytorch#90842", "facebookresearch/fairseq#351")
def test_the_weights_are_returned_as_they_are_before_dropout(learner, reference, rng):
    query, key = normal(rng, 2, 4, 3), normal(rng, 2, 5, 3)
    expected = twin(reference, plain(3), 3)(query, key)[1]
    for probability in (0.5, 1.0):
        assert_roughly(both(made(learner, plain(3), 3, dropout=probability)(query, key))[1], expected)


@points(0.5)
@promise("dtype", "accuracy")
@hint("multi_head.dtype")
@seen_in("facebookresearch/fairseq#3575", "NVIDIA/apex#1052", "mahmoodlab/TITAN#11")
def test_each_floating_dtype_comes_back_with_its_own_accuracy(learner, reference, rng):
    causal = torch.ones(4, 6, dtype=torch.bool).tril(2)
    state, query, key = drawn(rng, 15), normal(rng, 2, 4, 15), normal(rng, 2, 6, 15)
    for dtype in DTYPES:
        name = str(dtype).removeprefix("torch.")
        rounded = {parameter: tensor.to(dtype) for parameter, tensor in state.items()}
        arguments = query.to(dtype), key.to(dtype)
        right = twin(reference, {parameter: tensor.double() for parameter, tensor in rounded.items()}, 3)
        expected = right(*(argument.double() for argument in arguments), allowed=causal)
        returned = both(made(learner, rounded, 3, name)(*arguments, allowed=causal))
        # Each number passes two projections, a score and an average.
        for actual, exact in zip(returned, expected, strict=True):
            assert_close(actual, exact.detach(), dtype=dtype, terms=2 * 15 + 5 + 6, logits=8.0, scale=largest(exact))


@points(0.5)
@promise("untouched", "unshared")
@hint("multi_head.memory")
@seen_in("exercism/python#1874", "huggingface/transformers#31008")
def test_arguments_stay_as_they_are_and_results_are_new(learner, reference, rng):
    x = normal(rng, 2, 4, 6)
    assert_equal(learner.split_heads(x, 3), reference.split_heads(x, 3))
    assert_untouched(learner)
    heads = normal(rng, 2, 3, 4, 2)
    assert_equal(learner.merge_heads(heads), reference.merge_heads(heads))
    assert_untouched(learner)
    module, right = made(learner, reading(6), 3), twin(reference, reading(6), 3)
    for allowed in (mask("1000", "1100", "0000", "0001"), mask("1111", "1100")[:, None, None, :]):
        assert_roughly(both(module(x, x, x, allowed))[0], right(x, x, x, allowed)[0])
        assert_untouched(learner)
        assert_unshared(learner)
