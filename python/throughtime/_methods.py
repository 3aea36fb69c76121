"""Made by generate.py out of the option table: do not edit."""

from __future__ import annotations

from typing import Sequence

from ._settings import Field, Settings

__all__ = ['BPTT', 'TBPTT', 'AdaptiveTBPTT', 'FPTT', 'FPP', 'SlidingTBPTT', 'TargetPropagation', 'SGD', 'Momentum',
    'Adam', 'RMSProp', 'RMSPropTF1', 'Adagrad', 'Adadelta', 'ASGD']

class BPTT(Settings):
    """The training method `bptt` (docs/options.md).

    memory: full: keep the activations of all steps; recompute: keep about sqrt(T) states and compute the rest
        again (full, recompute)
    aux_losses: give BPTT the losses that fptt has at the ends of windows; the options below are about these
        losses
    windows: K, how many windows a sequence is cut into, at most one for each step; 0: window_length is given
        instead (at least 0)
    window_length: steps of a window; 0: windows (K) is given instead (at least 0)
    remainder: where the steps go that are left over after equal windows. extra: into one more window. absorb:
        into the last window. spread: into all windows. auto: extra, but spread where the extra window would be
        longer than the others (auto, extra, absorb, spread)
    intermediate: sequences with one target at the end: where earlier windows have a loss. window_end: at their
        last step; every_step: shared over all steps; none: nowhere; auto: window_end for such sequences (auto,
        window_end, every_step, none)
    q: Q, a distribution over the classes. A loss before the end of a sequence compares the answer with Q and
        with the target. examples: the prediction for this example in the epoch before. class_wrong,
        class_right: that for a wrongly (rightly) classified example of its class in the batch before. uniform:
        all classes alike. auto: examples if their number is finite, else uniform (auto, examples, class_wrong,
        class_right, uniform)
    q_epoch: q = class_wrong, class_right: Q is uniform before this epoch (the first is 1) and in its first
        batch (at least 1)
    beta: weight of the target in the loss of window p of K', which ends at step t of T. time: t / T; window: p
        / K'; ref_index: p - 1 + 1 / K (numbers only, as in the released code) (time, window, ref_index)
    divergence: whether the divergence from Q is a sum over classes, or a mean (sum, mean)
    one_hot_from: from this window on Q is the label itself; 0: in no window (at least 0)
    skip_last: never train on the last window of a sequence
    """

    _table = 'learner'
    _name = 'bptt'
    _fields = {
        'memory': Field('learner.bptt.memory', 'text', 'full', None, None, False, False, ('full', 'recompute')),
        'aux_losses': Field('learner.bptt.aux_losses', 'true or false', False, None, None, False, False, ()),
        'windows': Field('learner.bptt.windows', 'integer', 0, 0.0, None, False, False, ()),
        'window_length': Field('learner.bptt.window_length', 'integer', 0, 0.0, None, False, False, ()),
        'remainder': Field('learner.bptt.remainder', 'text', 'auto', None, None, False, False, ('auto', 'extra', 'absorb', 'spread')),
        'intermediate': Field('learner.bptt.intermediate', 'text', 'auto', None, None, False, False, ('auto', 'window_end', 'every_step', 'none')),
        'q': Field('learner.bptt.q', 'text', 'auto', None, None, False, False, ('auto', 'examples', 'class_wrong', 'class_right', 'uniform')),
        'q_epoch': Field('learner.bptt.q_epoch', 'integer', 20, 1.0, None, False, False, ()),
        'beta': Field('learner.bptt.beta', 'text', 'time', None, None, False, False, ('time', 'window', 'ref_index')),
        'divergence': Field('learner.bptt.divergence', 'text', 'sum', None, None, False, False, ('sum', 'mean')),
        'one_hot_from': Field('learner.bptt.one_hot_from', 'integer', 0, 0.0, None, False, False, ()),
        'skip_last': Field('learner.bptt.skip_last', 'true or false', False, None, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        memory: str = 'full',
        aux_losses: bool = False,
        windows: int = 0,
        window_length: int = 0,
        remainder: str = 'auto',
        intermediate: str = 'auto',
        q: str = 'auto',
        q_epoch: int = 20,
        beta: str = 'time',
        divergence: str = 'sum',
        one_hot_from: int = 0,
        skip_last: bool = False,
    ) -> None:
        self.memory = memory
        self.aux_losses = aux_losses
        self.windows = windows
        self.window_length = window_length
        self.remainder = remainder
        self.intermediate = intermediate
        self.q = q
        self.q_epoch = q_epoch
        self.beta = beta
        self.divergence = divergence
        self.one_hot_from = one_hot_from
        self.skip_last = skip_last
        self._check()


class TBPTT(Settings):
    """The training method `tbptt` (docs/options.md).

    preset: sets steps, losses and stride from K, the truncation. plain: K, K, K. paper: 2K+1, K, K. ref: 2K-1,
        K, K. original: K, 1, 1. double-tf: 2K-1 for all three. buffer: as plain, and a window also gets the
        gradient of the K-1 losses after it. custom: you give all three instead of K (custom, paper, ref, plain,
        original, double-tf, buffer)
    truncation: K, the truncation in steps; every preset but custom needs it (between 0 and 500000000)
    steps: preset = custom: steps of a window (between 0 and 500000000)
    losses: preset = custom: how many steps at the end of a window have a loss (at least 0)
    stride: preset = custom: steps from one window to the next (between 0 and 500000000)
    chunk: cut each sequence of a batch into chunks of this many steps; no window reaches back into an earlier
        chunk; 0: off (at least 0)
    ref_stream: with chunk: start windows from the same outdated states as the released code of adaptive TBPTT
    rate_scaling: multiply the learning rate by the square root of K (sqrt) or by K (linear), also for a window
        with fewer losses. K is the truncation; preset = custom: losses (none, sqrt, linear)
    clip_by_losses: divide optimizer.clip by the number of losses of a window, as the released code of adaptive
        TBPTT does
    delta: estimates: the relative bias that the gradient may have; the shortest truncation below it is chosen
        (above 0 and below 1)
    shortest: estimates: K_min, the shortest truncation that may be chosen (between 1 and 500000000)
    longest: estimates: K_max, the longest truncation that may be chosen (between 1 and 500000000)
    lags: estimates: R, the largest lag that is measured, at least 2; 0: 100, or fewer if a row of the data is
        too short for burn_in and lags (at least 0)
    tail: estimates: tau; the decay beta is fitted to the lags from tau to R; 0: 0.9 R, rounded down (at least
        0)
    positions: estimates: S, how many random places in the training data are measured; 0: as many as train.batch
        (between 0 and 65536)
    burn_in: estimates: steps that bring the state from zero to a usual value before the lags begin (between 0
        and 1000000)
    estimate_every: estimates: updates from one estimate to the next; 0: one estimate per epoch (at least 0)
    logged_estimates: how many estimates are made each time for the log alone, with their 95 % range; 0: none
        (between 0 and 10000)
    decay: estimates: how the decay beta is found: by regression (Eq. 22), as the largest slope (max, Eq. 21) or
        as a quantile of the slopes (regression, max, quantile)
    quantile: decay = quantile: alpha; beta comes from the 1 - alpha quantile of the slopes (between 0 and 1)
    norm: estimates: how the size of dL/dh is measured. euclidean: its norm; per_layer: the sum of the layers'
        norms; weighted: each unit counts by the size of its dh/dW (euclidean, per_layer, weighted)
    gradient_size: estimates: how the size C_k of the gradient is found. norms: from mean norms; vectors: from
        the norm of summed mean vectors; exact: exactly, for states of at most 256 numbers (norms, vectors,
        exact)
    estimate_dropout: estimates: keep dropout on while gradients are measured
    variants: estimates: what to do as the released code does, where it differs from the paper (docs/adaptive-
        tbptt.md) (mean_of_logs, phi_from_one, tau_twice, tight_tail, ols_all_lags, max_from_tau,
        global_lower_bound, unit_bias)
    """

    _table = 'learner'
    _name = 'tbptt'
    _fields = {
        'preset': Field('learner.tbptt.preset', 'text', 'custom', None, None, False, False, ('custom', 'paper', 'ref', 'plain', 'original', 'double-tf', 'buffer')),
        'truncation': Field('learner.tbptt.truncation', 'integer', 0, 0.0, 500000000.0, False, False, ()),
        'steps': Field('learner.tbptt.steps', 'integer', 0, 0.0, 500000000.0, False, False, ()),
        'losses': Field('learner.tbptt.losses', 'integer', 0, 0.0, None, False, False, ()),
        'stride': Field('learner.tbptt.stride', 'integer', 0, 0.0, 500000000.0, False, False, ()),
        'chunk': Field('learner.tbptt.chunk', 'integer', 0, 0.0, None, False, False, ()),
        'ref_stream': Field('learner.tbptt.ref_stream', 'true or false', False, None, None, False, False, ()),
        'rate_scaling': Field('learner.tbptt.rate_scaling', 'text', 'none', None, None, False, False, ('none', 'sqrt', 'linear')),
        'clip_by_losses': Field('learner.tbptt.clip_by_losses', 'true or false', False, None, None, False, False, ()),
        'delta': Field('learner.tbptt.delta', 'number', 0.1, 0.0, 1.0, True, True, ()),
        'shortest': Field('learner.tbptt.shortest', 'integer', 2, 1.0, 500000000.0, False, False, ()),
        'longest': Field('learner.tbptt.longest', 'integer', 100, 1.0, 500000000.0, False, False, ()),
        'lags': Field('learner.tbptt.lags', 'integer', 0, 0.0, None, False, False, ()),
        'tail': Field('learner.tbptt.tail', 'integer', 0, 0.0, None, False, False, ()),
        'positions': Field('learner.tbptt.positions', 'integer', 0, 0.0, 65536.0, False, False, ()),
        'burn_in': Field('learner.tbptt.burn_in', 'integer', 20, 0.0, 1000000.0, False, False, ()),
        'estimate_every': Field('learner.tbptt.estimate_every', 'integer', 0, 0.0, None, False, False, ()),
        'logged_estimates': Field('learner.tbptt.logged_estimates', 'integer', 0, 0.0, 10000.0, False, False, ()),
        'decay': Field('learner.tbptt.decay', 'text', 'regression', None, None, False, False, ('regression', 'max', 'quantile')),
        'quantile': Field('learner.tbptt.quantile', 'number', 0.1, 0.0, 1.0, False, False, ()),
        'norm': Field('learner.tbptt.norm', 'text', 'euclidean', None, None, False, False, ('euclidean', 'per_layer', 'weighted')),
        'gradient_size': Field('learner.tbptt.gradient_size', 'text', 'norms', None, None, False, False, ('norms', 'vectors', 'exact')),
        'estimate_dropout': Field('learner.tbptt.estimate_dropout', 'true or false', True, None, None, False, False, ()),
        'variants': Field('learner.tbptt.variants', 'text or list of texts', [], None, None, False, False, ('mean_of_logs', 'phi_from_one', 'tau_twice', 'tight_tail', 'ols_all_lags', 'max_from_tau', 'global_lower_bound', 'unit_bias')),
    }

    def __init__(
        self,
        *,
        preset: str = 'custom',
        truncation: int = 0,
        steps: int = 0,
        losses: int = 0,
        stride: int = 0,
        chunk: int = 0,
        ref_stream: bool = False,
        rate_scaling: str = 'none',
        clip_by_losses: bool = False,
        delta: float = 0.1,
        shortest: int = 2,
        longest: int = 100,
        lags: int = 0,
        tail: int = 0,
        positions: int = 0,
        burn_in: int = 20,
        estimate_every: int = 0,
        logged_estimates: int = 0,
        decay: str = 'regression',
        quantile: float = 0.1,
        norm: str = 'euclidean',
        gradient_size: str = 'norms',
        estimate_dropout: bool = True,
        variants: str | Sequence[str] = [],
    ) -> None:
        self.preset = preset
        self.truncation = truncation
        self.steps = steps
        self.losses = losses
        self.stride = stride
        self.chunk = chunk
        self.ref_stream = ref_stream
        self.rate_scaling = rate_scaling
        self.clip_by_losses = clip_by_losses
        self.delta = delta
        self.shortest = shortest
        self.longest = longest
        self.lags = lags
        self.tail = tail
        self.positions = positions
        self.burn_in = burn_in
        self.estimate_every = estimate_every
        self.logged_estimates = logged_estimates
        self.decay = decay
        self.quantile = quantile
        self.norm = norm
        self.gradient_size = gradient_size
        self.estimate_dropout = estimate_dropout
        self.variants = variants
        self._check()


class AdaptiveTBPTT(Settings):
    """The training method `adaptive_tbptt` (docs/options.md).

    preset: sets steps, losses and stride from K, the truncation. plain: K, K, K. paper: 2K+1, K, K. ref: 2K-1,
        K, K. original: K, 1, 1. double-tf: 2K-1 for all three. buffer: as plain, and a window also gets the
        gradient of the K-1 losses after it. custom: not allowed here, because it has no K (custom, paper, ref,
        plain, original, double-tf, buffer)
    truncation: K_0, the truncation before the first estimate, if estimate_first = false; 0: shortest (between 0
        and 500000000)
    chunk: cut each sequence of a batch into chunks of this many steps; no window reaches back into an earlier
        chunk; 0: off (at least 0)
    ref_stream: with chunk: start windows from the same outdated states as the released code of adaptive TBPTT
    rate_scaling: multiply the learning rate by the square root of K (sqrt) or by K (linear), also for a window
        with fewer losses. K is the truncation; preset = custom: losses (none, sqrt, linear)
    clip_by_losses: divide optimizer.clip by the number of losses of a window, as the released code of adaptive
        TBPTT does
    delta: estimates: the relative bias that the gradient may have; the shortest truncation below it is chosen
        (above 0 and below 1)
    shortest: estimates: K_min, the shortest truncation that may be chosen (between 1 and 500000000)
    longest: estimates: K_max, the longest truncation that may be chosen (between 1 and 500000000)
    lags: estimates: R, the largest lag that is measured, at least 2; 0: 100, or fewer if a row of the data is
        too short for burn_in and lags (at least 0)
    tail: estimates: tau; the decay beta is fitted to the lags from tau to R; 0: 0.9 R, rounded down (at least
        0)
    positions: estimates: S, how many random places in the training data are measured; 0: as many as train.batch
        (between 0 and 65536)
    burn_in: estimates: steps that bring the state from zero to a usual value before the lags begin (between 0
        and 1000000)
    estimate_every: estimates: updates from one estimate to the next; 0: one estimate per epoch (at least 0)
    logged_estimates: how many estimates are made each time for the log alone, with their 95 % range; 0: none
        (between 0 and 10000)
    decay: estimates: how the decay beta is found: by regression (Eq. 22), as the largest slope (max, Eq. 21) or
        as a quantile of the slopes (regression, max, quantile)
    quantile: decay = quantile: alpha; beta comes from the 1 - alpha quantile of the slopes (between 0 and 1)
    norm: estimates: how the size of dL/dh is measured. euclidean: its norm; per_layer: the sum of the layers'
        norms; weighted: each unit counts by the size of its dh/dW (euclidean, per_layer, weighted)
    gradient_size: estimates: how the size C_k of the gradient is found. norms: from mean norms; vectors: from
        the norm of summed mean vectors; exact: exactly, for states of at most 256 numbers (norms, vectors,
        exact)
    estimate_dropout: estimates: keep dropout on while gradients are measured
    variants: estimates: what to do as the released code does, where it differs from the paper (docs/adaptive-
        tbptt.md) (mean_of_logs, phi_from_one, tau_twice, tight_tail, ols_all_lags, max_from_tau,
        global_lower_bound, unit_bias)
    repeats: how many estimates decide on K together; K is the mean of their answers, rounded down (between 1
        and 1000)
    estimate_first: true: estimate before the first update (Algorithm 1); false: begin with `truncation`
    """

    _table = 'learner'
    _name = 'adaptive_tbptt'
    _fields = {
        'preset': Field('learner.adaptive_tbptt.preset', 'text', 'paper', None, None, False, False, ('custom', 'paper', 'ref', 'plain', 'original', 'double-tf', 'buffer')),
        'truncation': Field('learner.adaptive_tbptt.truncation', 'integer', 0, 0.0, 500000000.0, False, False, ()),
        'chunk': Field('learner.adaptive_tbptt.chunk', 'integer', 0, 0.0, None, False, False, ()),
        'ref_stream': Field('learner.adaptive_tbptt.ref_stream', 'true or false', False, None, None, False, False, ()),
        'rate_scaling': Field('learner.adaptive_tbptt.rate_scaling', 'text', 'sqrt', None, None, False, False, ('none', 'sqrt', 'linear')),
        'clip_by_losses': Field('learner.adaptive_tbptt.clip_by_losses', 'true or false', False, None, None, False, False, ()),
        'delta': Field('learner.adaptive_tbptt.delta', 'number', 0.1, 0.0, 1.0, True, True, ()),
        'shortest': Field('learner.adaptive_tbptt.shortest', 'integer', 2, 1.0, 500000000.0, False, False, ()),
        'longest': Field('learner.adaptive_tbptt.longest', 'integer', 100, 1.0, 500000000.0, False, False, ()),
        'lags': Field('learner.adaptive_tbptt.lags', 'integer', 0, 0.0, None, False, False, ()),
        'tail': Field('learner.adaptive_tbptt.tail', 'integer', 0, 0.0, None, False, False, ()),
        'positions': Field('learner.adaptive_tbptt.positions', 'integer', 0, 0.0, 65536.0, False, False, ()),
        'burn_in': Field('learner.adaptive_tbptt.burn_in', 'integer', 20, 0.0, 1000000.0, False, False, ()),
        'estimate_every': Field('learner.adaptive_tbptt.estimate_every', 'integer', 0, 0.0, None, False, False, ()),
        'logged_estimates': Field('learner.adaptive_tbptt.logged_estimates', 'integer', 0, 0.0, 10000.0, False, False, ()),
        'decay': Field('learner.adaptive_tbptt.decay', 'text', 'regression', None, None, False, False, ('regression', 'max', 'quantile')),
        'quantile': Field('learner.adaptive_tbptt.quantile', 'number', 0.1, 0.0, 1.0, False, False, ()),
        'norm': Field('learner.adaptive_tbptt.norm', 'text', 'euclidean', None, None, False, False, ('euclidean', 'per_layer', 'weighted')),
        'gradient_size': Field('learner.adaptive_tbptt.gradient_size', 'text', 'norms', None, None, False, False, ('norms', 'vectors', 'exact')),
        'estimate_dropout': Field('learner.adaptive_tbptt.estimate_dropout', 'true or false', True, None, None, False, False, ()),
        'variants': Field('learner.adaptive_tbptt.variants', 'text or list of texts', [], None, None, False, False, ('mean_of_logs', 'phi_from_one', 'tau_twice', 'tight_tail', 'ols_all_lags', 'max_from_tau', 'global_lower_bound', 'unit_bias')),
        'repeats': Field('learner.adaptive_tbptt.repeats', 'integer', 1, 1.0, 1000.0, False, False, ()),
        'estimate_first': Field('learner.adaptive_tbptt.estimate_first', 'true or false', True, None, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        preset: str = 'paper',
        truncation: int = 0,
        chunk: int = 0,
        ref_stream: bool = False,
        rate_scaling: str = 'sqrt',
        clip_by_losses: bool = False,
        delta: float = 0.1,
        shortest: int = 2,
        longest: int = 100,
        lags: int = 0,
        tail: int = 0,
        positions: int = 0,
        burn_in: int = 20,
        estimate_every: int = 0,
        logged_estimates: int = 0,
        decay: str = 'regression',
        quantile: float = 0.1,
        norm: str = 'euclidean',
        gradient_size: str = 'norms',
        estimate_dropout: bool = True,
        variants: str | Sequence[str] = [],
        repeats: int = 1,
        estimate_first: bool = True,
    ) -> None:
        self.preset = preset
        self.truncation = truncation
        self.chunk = chunk
        self.ref_stream = ref_stream
        self.rate_scaling = rate_scaling
        self.clip_by_losses = clip_by_losses
        self.delta = delta
        self.shortest = shortest
        self.longest = longest
        self.lags = lags
        self.tail = tail
        self.positions = positions
        self.burn_in = burn_in
        self.estimate_every = estimate_every
        self.logged_estimates = logged_estimates
        self.decay = decay
        self.quantile = quantile
        self.norm = norm
        self.gradient_size = gradient_size
        self.estimate_dropout = estimate_dropout
        self.variants = variants
        self.repeats = repeats
        self.estimate_first = estimate_first
        self._check()


class FPTT(Settings):
    """The training method `fptt` (docs/options.md).

    windows: K, how many windows a sequence is cut into, at most one for each step; 0: window_length is given
        instead (at least 0)
    window_length: steps of a window; 0: windows (K) is given instead (at least 0)
    remainder: where the steps go that are left over after equal windows. extra: into one more window. absorb:
        into the last window. spread: into all windows. auto: extra, but spread where the extra window would be
        longer than the others (auto, extra, absorb, spread)
    window: fixed: windows have the length that is given. adaptive: their length is the truncation that keeps
        the relative bias of the gradient below `delta`, between `shortest` and `longest` (fixed, adaptive)
    form: the regulariser. lambda: with a running estimate; gradient: Algorithm 2 to the letter; ogd: none
        (lambda, gradient, ogd)
    alpha: strength of the regulariser; positive unless form = ogd (at least 0)
    alpha_growth: alpha is multiplied by this after each epoch (above 0)
    alpha_most: alpha grows no further than this; 0: no bound (at least 0)
    averaging: b, the weight of the newest W in the running average of W (between 0 and 1)
    penalty: form = lambda: m; alpha is multiplied by it where the regulariser enters the gradient (at least 0)
    kappa: form = gradient: weight of the gradient of the window before (at least 0)
    inner_iterations: updates of W on each window (between 1 and 1000000)
    inner_state: inner_iterations above 1: further updates on a window restart at its first state, or continue
        from its last (restart, continue)
    take_average: replace the weights W by their running average at the end of each epoch
    reset_multiplier: set lambda to 0 at the end of each epoch; form = gradient: the gradient of the window
        before
    carry: where the next batch of a stream starts. windows: from the state that the windows left; rerun: from
        that of one more forward pass, with the new weights (windows, rerun)
    masks: of weights, of tokens and, with model.dropout_per_sequence, of activations: draw new ones for each
        window, or for each sequence (window, sequence)
    rate_by_windows: divide the learning rate by twice the number of windows of the sequence
    rate_by_length: multiply the learning rate by the sequence's length, divided by the longest one (by the
        usual one, where lengths are drawn)
    intermediate: sequences with one target at the end: where earlier windows have a loss. window_end: at their
        last step; every_step: shared over all steps; none: nowhere; auto: window_end for such sequences (auto,
        window_end, every_step, none)
    q: Q, a distribution over the classes. A loss before the end of a sequence compares the answer with Q and
        with the target. examples: the prediction for this example in the epoch before. class_wrong,
        class_right: that for a wrongly (rightly) classified example of its class in the batch before. uniform:
        all classes alike. auto: examples if their number is finite, else uniform (auto, examples, class_wrong,
        class_right, uniform)
    q_epoch: q = class_wrong, class_right: Q is uniform before this epoch (the first is 1) and in its first
        batch (at least 1)
    beta: weight of the target in the loss of window p of K', which ends at step t of T. time: t / T; window: p
        / K'; ref_index: p - 1 + 1 / K (numbers only, as in the released code) (time, window, ref_index)
    divergence: whether the divergence from Q is a sum over classes, or a mean (sum, mean)
    one_hot_from: from this window on Q is the label itself; 0: in no window (at least 0)
    skip_last: never train on the last window of a sequence
    delta: estimates: the relative bias that the gradient may have; the shortest truncation below it is chosen
        (above 0 and below 1)
    shortest: estimates: K_min, the shortest truncation that may be chosen (between 1 and 500000000)
    longest: estimates: K_max, the longest truncation that may be chosen (between 1 and 500000000)
    lags: estimates: R, the largest lag that is measured, at least 2; 0: 100, or fewer if a row of the data is
        too short for burn_in and lags (at least 0)
    tail: estimates: tau; the decay beta is fitted to the lags from tau to R; 0: 0.9 R, rounded down (at least
        0)
    positions: estimates: S, how many random places in the training data are measured; 0: as many as train.batch
        (between 0 and 65536)
    burn_in: estimates: steps that bring the state from zero to a usual value before the lags begin (between 0
        and 1000000)
    estimate_every: estimates: updates from one estimate to the next; 0: one estimate per epoch (at least 0)
    logged_estimates: how many estimates are made each time for the log alone, with their 95 % range; 0: none
        (between 0 and 10000)
    decay: estimates: how the decay beta is found: by regression (Eq. 22), as the largest slope (max, Eq. 21) or
        as a quantile of the slopes (regression, max, quantile)
    quantile: decay = quantile: alpha; beta comes from the 1 - alpha quantile of the slopes (between 0 and 1)
    norm: estimates: how the size of dL/dh is measured. euclidean: its norm; per_layer: the sum of the layers'
        norms; weighted: each unit counts by the size of its dh/dW (euclidean, per_layer, weighted)
    gradient_size: estimates: how the size C_k of the gradient is found. norms: from mean norms; vectors: from
        the norm of summed mean vectors; exact: exactly, for states of at most 256 numbers (norms, vectors,
        exact)
    estimate_dropout: estimates: keep dropout on while gradients are measured
    variants: estimates: what to do as the released code does, where it differs from the paper (docs/adaptive-
        tbptt.md) (mean_of_logs, phi_from_one, tau_twice, tight_tail, ols_all_lags, max_from_tau,
        global_lower_bound, unit_bias)
    repeats: window = adaptive: how many estimates decide on the length together; it is the mean of their
        answers, rounded down (between 1 and 1000)
    estimate_first: window = adaptive: true: estimate before the first update; false: begin with `window_length`
    """

    _table = 'learner'
    _name = 'fptt'
    _fields = {
        'windows': Field('learner.fptt.windows', 'integer', 0, 0.0, None, False, False, ()),
        'window_length': Field('learner.fptt.window_length', 'integer', 0, 0.0, None, False, False, ()),
        'remainder': Field('learner.fptt.remainder', 'text', 'auto', None, None, False, False, ('auto', 'extra', 'absorb', 'spread')),
        'window': Field('learner.fptt.window', 'text', 'fixed', None, None, False, False, ('fixed', 'adaptive')),
        'form': Field('learner.fptt.form', 'text', 'lambda', None, None, False, False, ('lambda', 'gradient', 'ogd')),
        'alpha': Field('learner.fptt.alpha', 'number', 0.1, 0.0, None, False, False, ()),
        'alpha_growth': Field('learner.fptt.alpha_growth', 'number', 1.0, 0.0, None, True, False, ()),
        'alpha_most': Field('learner.fptt.alpha_most', 'number', 0.0, 0.0, None, False, False, ()),
        'averaging': Field('learner.fptt.averaging', 'number', 0.5, 0.0, 1.0, False, False, ()),
        'penalty': Field('learner.fptt.penalty', 'number', 1.0, 0.0, None, False, False, ()),
        'kappa': Field('learner.fptt.kappa', 'number', 1.0, 0.0, None, False, False, ()),
        'inner_iterations': Field('learner.fptt.inner_iterations', 'integer', 1, 1.0, 1000000.0, False, False, ()),
        'inner_state': Field('learner.fptt.inner_state', 'text', 'restart', None, None, False, False, ('restart', 'continue')),
        'take_average': Field('learner.fptt.take_average', 'true or false', False, None, None, False, False, ()),
        'reset_multiplier': Field('learner.fptt.reset_multiplier', 'true or false', False, None, None, False, False, ()),
        'carry': Field('learner.fptt.carry', 'text', 'windows', None, None, False, False, ('windows', 'rerun')),
        'masks': Field('learner.fptt.masks', 'text', 'window', None, None, False, False, ('window', 'sequence')),
        'rate_by_windows': Field('learner.fptt.rate_by_windows', 'true or false', False, None, None, False, False, ()),
        'rate_by_length': Field('learner.fptt.rate_by_length', 'true or false', False, None, None, False, False, ()),
        'intermediate': Field('learner.fptt.intermediate', 'text', 'auto', None, None, False, False, ('auto', 'window_end', 'every_step', 'none')),
        'q': Field('learner.fptt.q', 'text', 'auto', None, None, False, False, ('auto', 'examples', 'class_wrong', 'class_right', 'uniform')),
        'q_epoch': Field('learner.fptt.q_epoch', 'integer', 20, 1.0, None, False, False, ()),
        'beta': Field('learner.fptt.beta', 'text', 'time', None, None, False, False, ('time', 'window', 'ref_index')),
        'divergence': Field('learner.fptt.divergence', 'text', 'sum', None, None, False, False, ('sum', 'mean')),
        'one_hot_from': Field('learner.fptt.one_hot_from', 'integer', 0, 0.0, None, False, False, ()),
        'skip_last': Field('learner.fptt.skip_last', 'true or false', False, None, None, False, False, ()),
        'delta': Field('learner.fptt.delta', 'number', 0.1, 0.0, 1.0, True, True, ()),
        'shortest': Field('learner.fptt.shortest', 'integer', 2, 1.0, 500000000.0, False, False, ()),
        'longest': Field('learner.fptt.longest', 'integer', 100, 1.0, 500000000.0, False, False, ()),
        'lags': Field('learner.fptt.lags', 'integer', 0, 0.0, None, False, False, ()),
        'tail': Field('learner.fptt.tail', 'integer', 0, 0.0, None, False, False, ()),
        'positions': Field('learner.fptt.positions', 'integer', 0, 0.0, 65536.0, False, False, ()),
        'burn_in': Field('learner.fptt.burn_in', 'integer', 20, 0.0, 1000000.0, False, False, ()),
        'estimate_every': Field('learner.fptt.estimate_every', 'integer', 0, 0.0, None, False, False, ()),
        'logged_estimates': Field('learner.fptt.logged_estimates', 'integer', 0, 0.0, 10000.0, False, False, ()),
        'decay': Field('learner.fptt.decay', 'text', 'regression', None, None, False, False, ('regression', 'max', 'quantile')),
        'quantile': Field('learner.fptt.quantile', 'number', 0.1, 0.0, 1.0, False, False, ()),
        'norm': Field('learner.fptt.norm', 'text', 'euclidean', None, None, False, False, ('euclidean', 'per_layer', 'weighted')),
        'gradient_size': Field('learner.fptt.gradient_size', 'text', 'norms', None, None, False, False, ('norms', 'vectors', 'exact')),
        'estimate_dropout': Field('learner.fptt.estimate_dropout', 'true or false', True, None, None, False, False, ()),
        'variants': Field('learner.fptt.variants', 'text or list of texts', [], None, None, False, False, ('mean_of_logs', 'phi_from_one', 'tau_twice', 'tight_tail', 'ols_all_lags', 'max_from_tau', 'global_lower_bound', 'unit_bias')),
        'repeats': Field('learner.fptt.repeats', 'integer', 1, 1.0, 1000.0, False, False, ()),
        'estimate_first': Field('learner.fptt.estimate_first', 'true or false', True, None, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        windows: int = 0,
        window_length: int = 0,
        remainder: str = 'auto',
        window: str = 'fixed',
        form: str = 'lambda',
        alpha: float = 0.1,
        alpha_growth: float = 1.0,
        alpha_most: float = 0.0,
        averaging: float = 0.5,
        penalty: float = 1.0,
        kappa: float = 1.0,
        inner_iterations: int = 1,
        inner_state: str = 'restart',
        take_average: bool = False,
        reset_multiplier: bool = False,
        carry: str = 'windows',
        masks: str = 'window',
        rate_by_windows: bool = False,
        rate_by_length: bool = False,
        intermediate: str = 'auto',
        q: str = 'auto',
        q_epoch: int = 20,
        beta: str = 'time',
        divergence: str = 'sum',
        one_hot_from: int = 0,
        skip_last: bool = False,
        delta: float = 0.1,
        shortest: int = 2,
        longest: int = 100,
        lags: int = 0,
        tail: int = 0,
        positions: int = 0,
        burn_in: int = 20,
        estimate_every: int = 0,
        logged_estimates: int = 0,
        decay: str = 'regression',
        quantile: float = 0.1,
        norm: str = 'euclidean',
        gradient_size: str = 'norms',
        estimate_dropout: bool = True,
        variants: str | Sequence[str] = [],
        repeats: int = 1,
        estimate_first: bool = True,
    ) -> None:
        self.windows = windows
        self.window_length = window_length
        self.remainder = remainder
        self.window = window
        self.form = form
        self.alpha = alpha
        self.alpha_growth = alpha_growth
        self.alpha_most = alpha_most
        self.averaging = averaging
        self.penalty = penalty
        self.kappa = kappa
        self.inner_iterations = inner_iterations
        self.inner_state = inner_state
        self.take_average = take_average
        self.reset_multiplier = reset_multiplier
        self.carry = carry
        self.masks = masks
        self.rate_by_windows = rate_by_windows
        self.rate_by_length = rate_by_length
        self.intermediate = intermediate
        self.q = q
        self.q_epoch = q_epoch
        self.beta = beta
        self.divergence = divergence
        self.one_hot_from = one_hot_from
        self.skip_last = skip_last
        self.delta = delta
        self.shortest = shortest
        self.longest = longest
        self.lags = lags
        self.tail = tail
        self.positions = positions
        self.burn_in = burn_in
        self.estimate_every = estimate_every
        self.logged_estimates = logged_estimates
        self.decay = decay
        self.quantile = quantile
        self.norm = norm
        self.gradient_size = gradient_size
        self.estimate_dropout = estimate_dropout
        self.variants = variants
        self.repeats = repeats
        self.estimate_first = estimate_first
        self._check()


class FPP(Settings):
    """The training method `fpp` (docs/options.md).

    steps: T, the steps of a trajectory, from which an update learns; between 1 and `buffer` (between 0 and
        1000000000)
    buffer: N, how many transitions (the newest steps of the stream) the buffer keeps (between 1 and 1000000000)
    lambda_: weight of the penalty, which pulls each stored state to the one that is predicted for it (at least
        0)
    lambda_growth: lambda is multiplied by this every 1000 steps (above 0)
    lambda_most: lambda grows no further than this; 0: no bound (at least 0)
    penalty: the penalty. sum_half: lambda/2 times the sum of squares of each sample; mean: lambda times their
        mean (sum_half, mean)
    penalise: which gradients contain the penalty: those of the weights and of the states (both), of one of
        them, or none (both, weights, states, none)
    updates: M, how many updates follow each step of the stream (between 1 and 1000000)
    order: sequential: M updates one after the other; parallel: M gradients at the same weights and states
        (sequential, parallel)
    state_rate: learning rate of the stored states; 0: they do not change (at least 0)
    state_optimizer: update rule of the stored states (sgd, rmsprop)
    state_gradient: sample: a state follows the gradient of its own sample's loss; batch_mean: of the batch's
        mean loss (sample, batch_mean)
    batch: streams: an update takes one trajectory of each stream, all ending at the same step; blocks: it takes
        `blocks` trajectories (streams, blocks)
    blocks: batch = blocks: how many trajectories an update takes (between 1 and 1000000)
    collisions: batch = blocks: when two gradients meet at one state, add them, or keep the last (add,
        overwrite)
    sample: where trajectories end. uniform: anywhere in the buffer; newest: at its newest step (uniform,
        newest)
    ends: weighted: trajectories end at steps with a target; all: at any step (weighted, all)
    newest: whether a trajectory may end at the newest transition
    feed: buffer: the next step starts from the state in the buffer; running: from a state that no update
        changes (buffer, running)
    write_back: each: states change in each of the M updates; last: only in the last (each, last)
    variant: plain, Decay-FPP or Random-FPP (plain, decay, random)
    phase_steps: variant = decay, random: steps of a phase, usually a fifth of the run (at least 0)
    decay: variant = decay: how T falls and M rises from phase to phase. halving: T is halved, M doubled;
        subtractive: T falls and M rises by 2 (halving, subtractive)
    chance: variant = random: how the probability of T steps falls from phase to phase. additive: by 0.2;
        multiplicative: times 0.8; divided: by the factor 1.2 (additive, multiplicative, divided)
    fixed: fill the buffer once, then learn from it alone
    """

    _table = 'learner'
    _name = 'fpp'
    _fields = {
        'steps': Field('learner.fpp.steps', 'integer', 0, 0.0, 1000000000.0, False, False, ()),
        'buffer': Field('learner.fpp.buffer', 'integer', 1000, 1.0, 1000000000.0, False, False, ()),
        'lambda_': Field('learner.fpp.lambda', 'number', 1.0, 0.0, None, False, False, ()),
        'lambda_growth': Field('learner.fpp.lambda_growth', 'number', 1.0, 0.0, None, True, False, ()),
        'lambda_most': Field('learner.fpp.lambda_most', 'number', 0.0, 0.0, None, False, False, ()),
        'penalty': Field('learner.fpp.penalty', 'text', 'sum_half', None, None, False, False, ('sum_half', 'mean')),
        'penalise': Field('learner.fpp.penalise', 'text', 'both', None, None, False, False, ('both', 'weights', 'states', 'none')),
        'updates': Field('learner.fpp.updates', 'integer', 1, 1.0, 1000000.0, False, False, ()),
        'order': Field('learner.fpp.order', 'text', 'sequential', None, None, False, False, ('sequential', 'parallel')),
        'state_rate': Field('learner.fpp.state_rate', 'number', 0.01, 0.0, None, False, False, ()),
        'state_optimizer': Field('learner.fpp.state_optimizer', 'text', 'sgd', None, None, False, False, ('sgd', 'rmsprop')),
        'state_gradient': Field('learner.fpp.state_gradient', 'text', 'sample', None, None, False, False, ('sample', 'batch_mean')),
        'batch': Field('learner.fpp.batch', 'text', 'streams', None, None, False, False, ('streams', 'blocks')),
        'blocks': Field('learner.fpp.blocks', 'integer', 1, 1.0, 1000000.0, False, False, ()),
        'collisions': Field('learner.fpp.collisions', 'text', 'add', None, None, False, False, ('add', 'overwrite')),
        'sample': Field('learner.fpp.sample', 'text', 'uniform', None, None, False, False, ('uniform', 'newest')),
        'ends': Field('learner.fpp.ends', 'text', 'weighted', None, None, False, False, ('weighted', 'all')),
        'newest': Field('learner.fpp.newest', 'true or false', True, None, None, False, False, ()),
        'feed': Field('learner.fpp.feed', 'text', 'buffer', None, None, False, False, ('buffer', 'running')),
        'write_back': Field('learner.fpp.write_back', 'text', 'each', None, None, False, False, ('each', 'last')),
        'variant': Field('learner.fpp.variant', 'text', 'plain', None, None, False, False, ('plain', 'decay', 'random')),
        'phase_steps': Field('learner.fpp.phase_steps', 'integer', 0, 0.0, None, False, False, ()),
        'decay': Field('learner.fpp.decay', 'text', 'halving', None, None, False, False, ('halving', 'subtractive')),
        'chance': Field('learner.fpp.chance', 'text', 'additive', None, None, False, False, ('additive', 'multiplicative', 'divided')),
        'fixed': Field('learner.fpp.fixed', 'true or false', False, None, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        steps: int = 0,
        buffer: int = 1000,
        lambda_: float = 1.0,
        lambda_growth: float = 1.0,
        lambda_most: float = 0.0,
        penalty: str = 'sum_half',
        penalise: str = 'both',
        updates: int = 1,
        order: str = 'sequential',
        state_rate: float = 0.01,
        state_optimizer: str = 'sgd',
        state_gradient: str = 'sample',
        batch: str = 'streams',
        blocks: int = 1,
        collisions: str = 'add',
        sample: str = 'uniform',
        ends: str = 'weighted',
        newest: bool = True,
        feed: str = 'buffer',
        write_back: str = 'each',
        variant: str = 'plain',
        phase_steps: int = 0,
        decay: str = 'halving',
        chance: str = 'additive',
        fixed: bool = False,
    ) -> None:
        self.steps = steps
        self.buffer = buffer
        self.lambda_ = lambda_
        self.lambda_growth = lambda_growth
        self.lambda_most = lambda_most
        self.penalty = penalty
        self.penalise = penalise
        self.updates = updates
        self.order = order
        self.state_rate = state_rate
        self.state_optimizer = state_optimizer
        self.state_gradient = state_gradient
        self.batch = batch
        self.blocks = blocks
        self.collisions = collisions
        self.sample = sample
        self.ends = ends
        self.newest = newest
        self.feed = feed
        self.write_back = write_back
        self.variant = variant
        self.phase_steps = phase_steps
        self.decay = decay
        self.chance = chance
        self.fixed = fixed
        self._check()


class SlidingTBPTT(Settings):
    """The training method `sliding_tbptt` (docs/options.md).

    steps: T, how many steps each update goes back, at least 1 (between 0 and 1000000000)
    start: stored: a window starts from the stored state; shifted: from the last state of the window before
        (stored, shifted)
    """

    _table = 'learner'
    _name = 'sliding_tbptt'
    _fields = {
        'steps': Field('learner.sliding_tbptt.steps', 'integer', 0, 0.0, 1000000000.0, False, False, ()),
        'start': Field('learner.sliding_tbptt.start', 'text', 'stored', None, None, False, False, ('stored', 'shifted')),
    }

    def __init__(
        self,
        *,
        steps: int = 0,
        start: str = 'stored',
    ) -> None:
        self.steps = steps
        self.start = start
        self._check()


class TargetPropagation(Settings):
    """The training method `target_propagation` (docs/options.md).

    block: B, the steps of a block, at least 1; it must divide the length of the task (at least 0)
    lambda_: weight of the penalty between blocks; positive unless solver = pm (at least 0)
    lambda_factor: lambda is multiplied by this after each epoch (above 0)
    solver: admm: steps on the states H, the parameters theta and the duals U in turn; alm: joint steps on H and
        theta, then U; pm: no duals (admm, alm, pm)
    state_steps: gradient steps on the states H in each round; solver = alm: joint steps, at least 1 (between 0
        and 1000000)
    theta_steps: gradient steps on the parameters in each round (between 1 and 1000000)
    rounds: how often the solver goes over each batch (between 1 and 1000000)
    h_solver: gradient: H follows its gradient; backward_sweep: targets are computed in one sweep from the last
        block to the first (gradient, backward_sweep)
    state_optimizer: update rule of the states H (sgd, momentum, adam, rmsprop, rmsprop_tf1, adagrad, adadelta,
        asgd)
    state_rate: learning rate of the states H; h_solver = backward_sweep: eta, the step of the sweep (at least
        0)
    state_epsilon: epsilon of H's update rule, from 1e-30 on; -1: the rule's own default (between -1 and 1)
    state_clip: clip the gradient of the states H to this norm; 0: off (at least 0)
    state_reset: reset the optimizer of the states H for every batch
    dual: scaled: the scaled step of ADMM on the duals; literal: the step that the paper prints (scaled,
        literal)
    dual_rate: alpha_u, the step size of the duals (at least 0)
    dual_clip: clip the gradient of the duals U to this norm; 0: off (at least 0)
    first_dual_epoch: duals stay zero before this epoch (at least 1)
    dual_before_theta: update the duals U before the parameters theta: in the order H, U, theta instead of H,
        theta, U
    init: where the states H start in each batch. chain: from one forward pass; zero_start: from blocks that
        start at zero; zeros: at zero; persist: H is kept for ever (batch mode) (chain, zero_start, zeros,
        persist)
    first_free: optimise the state before the first block too
    carry_epochs: start a new epoch from the last state of the one before
    loss_scale: sum: losses and penalties are summed over steps and blocks; mean: they are averaged (sum, mean)
    shard: how many blocks of each row are worked on at a time; 0: all; with init = persist: 256 (between 0 and
        1000000000)
    test_steps: evaluations: gradient steps on the state before each block, once the block has been scored; 0:
        none (at least 0)
    memory: how many MiB the tables of H and U may take; 0: as much as the machine has (at least 0)
    """

    _table = 'learner'
    _name = 'target_propagation'
    _fields = {
        'block': Field('learner.target_propagation.block', 'integer', 0, 0.0, None, False, False, ()),
        'lambda_': Field('learner.target_propagation.lambda', 'number', 1.0, 0.0, None, False, False, ()),
        'lambda_factor': Field('learner.target_propagation.lambda_factor', 'number', 1.0, 0.0, None, True, False, ()),
        'solver': Field('learner.target_propagation.solver', 'text', 'admm', None, None, False, False, ('admm', 'alm', 'pm')),
        'state_steps': Field('learner.target_propagation.state_steps', 'integer', 1, 0.0, 1000000.0, False, False, ()),
        'theta_steps': Field('learner.target_propagation.theta_steps', 'integer', 1, 1.0, 1000000.0, False, False, ()),
        'rounds': Field('learner.target_propagation.rounds', 'integer', 1, 1.0, 1000000.0, False, False, ()),
        'h_solver': Field('learner.target_propagation.h_solver', 'text', 'gradient', None, None, False, False, ('gradient', 'backward_sweep')),
        'state_optimizer': Field('learner.target_propagation.state_optimizer', 'text', 'adagrad', None, None, False, False, ('sgd', 'momentum', 'adam', 'rmsprop', 'rmsprop_tf1', 'adagrad', 'adadelta', 'asgd')),
        'state_rate': Field('learner.target_propagation.state_rate', 'number', 0.1, 0.0, None, False, False, ()),
        'state_epsilon': Field('learner.target_propagation.state_epsilon', 'number', 1e-05, -1.0, 1.0, False, False, ()),
        'state_clip': Field('learner.target_propagation.state_clip', 'number', 0.0, 0.0, None, False, False, ()),
        'state_reset': Field('learner.target_propagation.state_reset', 'true or false', True, None, None, False, False, ()),
        'dual': Field('learner.target_propagation.dual', 'text', 'scaled', None, None, False, False, ('scaled', 'literal')),
        'dual_rate': Field('learner.target_propagation.dual_rate', 'number', 1.0, 0.0, None, False, False, ()),
        'dual_clip': Field('learner.target_propagation.dual_clip', 'number', 0.0, 0.0, None, False, False, ()),
        'first_dual_epoch': Field('learner.target_propagation.first_dual_epoch', 'integer', 1, 1.0, None, False, False, ()),
        'dual_before_theta': Field('learner.target_propagation.dual_before_theta', 'true or false', False, None, None, False, False, ()),
        'init': Field('learner.target_propagation.init', 'text', 'chain', None, None, False, False, ('chain', 'zero_start', 'zeros', 'persist')),
        'first_free': Field('learner.target_propagation.first_free', 'true or false', False, None, None, False, False, ()),
        'carry_epochs': Field('learner.target_propagation.carry_epochs', 'true or false', False, None, None, False, False, ()),
        'loss_scale': Field('learner.target_propagation.loss_scale', 'text', 'sum', None, None, False, False, ('sum', 'mean')),
        'shard': Field('learner.target_propagation.shard', 'integer', 0, 0.0, 1000000000.0, False, False, ()),
        'test_steps': Field('learner.target_propagation.test_steps', 'integer', 0, 0.0, None, False, False, ()),
        'memory': Field('learner.target_propagation.memory', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        block: int = 0,
        lambda_: float = 1.0,
        lambda_factor: float = 1.0,
        solver: str = 'admm',
        state_steps: int = 1,
        theta_steps: int = 1,
        rounds: int = 1,
        h_solver: str = 'gradient',
        state_optimizer: str = 'adagrad',
        state_rate: float = 0.1,
        state_epsilon: float = 1e-05,
        state_clip: float = 0.0,
        state_reset: bool = True,
        dual: str = 'scaled',
        dual_rate: float = 1.0,
        dual_clip: float = 0.0,
        first_dual_epoch: int = 1,
        dual_before_theta: bool = False,
        init: str = 'chain',
        first_free: bool = False,
        carry_epochs: bool = False,
        loss_scale: str = 'sum',
        shard: int = 0,
        test_steps: int = 0,
        memory: int = 0,
    ) -> None:
        self.block = block
        self.lambda_ = lambda_
        self.lambda_factor = lambda_factor
        self.solver = solver
        self.state_steps = state_steps
        self.theta_steps = theta_steps
        self.rounds = rounds
        self.h_solver = h_solver
        self.state_optimizer = state_optimizer
        self.state_rate = state_rate
        self.state_epsilon = state_epsilon
        self.state_clip = state_clip
        self.state_reset = state_reset
        self.dual = dual
        self.dual_rate = dual_rate
        self.dual_clip = dual_clip
        self.first_dual_epoch = first_dual_epoch
        self.dual_before_theta = dual_before_theta
        self.init = init
        self.first_free = first_free
        self.carry_epochs = carry_epochs
        self.loss_scale = loss_scale
        self.shard = shard
        self.test_steps = test_steps
        self.memory = memory
        self._check()


class SGD(Settings):
    """The update rule `sgd` (docs/optimizers.md).

    rate: learning rate (at least 0)
    rate_by_length: the rate of a batch is multiplied by its steps, divided by those of a usual batch
        (task.text.length_varies)
    clip: a gradient with a larger norm is scaled down to this norm; 0: off (at least 0)
    clip_value: each entry of the gradient is clipped to this size; 0: off (at least 0)
    weight_decay: this times the weights is added to the gradient (at least 0)
    average: average the weights for evaluations, with any rule: from the first update on (always), or from when
        validation stops improving (non_monotone) (off, always, non_monotone)
    average_from: the average begins after this many updates; from then on evaluations use it (at least 0)
    average_patience: averaging begins when a validation is worse than the best of those more than this many
        validations back (between 1 and 1000000)
    average_test: whether average_patience counts back before the newest validation joins the others, as AWD-
        LSTM's authors do, or after, as FPTT's do (before, after)
    schedule: how the rate changes. constant: not at all; factor_at: at schedule_epochs; plateau: when
        validations stop improving; inverse_sqrt: it is divided by the square root of the update's number
        (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by this (above 0)
    schedule_epochs: the rate is multiplied at these epochs (at least 0)
    schedule_patience: this many evaluations in a row may bring no improvement before the rate is multiplied (at
        least 0)
    """

    _table = 'optimizer'
    _name = 'sgd'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'rate_by_length': Field('optimizer.rate_by_length', 'true or false', False, None, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'average': Field('optimizer.average', 'text', 'off', None, None, False, False, ('off', 'always', 'non_monotone')),
        'average_from': Field('optimizer.average_from', 'integer', 1, 0.0, None, False, False, ()),
        'average_patience': Field('optimizer.average_patience', 'integer', 5, 1.0, 1000000.0, False, False, ()),
        'average_test': Field('optimizer.average_test', 'text', 'before', None, None, False, False, ('before', 'after')),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        rate_by_length: bool = False,
        clip: float = 0.0,
        clip_value: float = 0.0,
        weight_decay: float = 0.0,
        average: str = 'off',
        average_from: int = 1,
        average_patience: int = 5,
        average_test: str = 'before',
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.rate_by_length = rate_by_length
        self.clip = clip
        self.clip_value = clip_value
        self.weight_decay = weight_decay
        self.average = average
        self.average_from = average_from
        self.average_patience = average_patience
        self.average_test = average_test
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class Momentum(Settings):
    """The update rule `momentum` (docs/optimizers.md).

    rate: learning rate (at least 0)
    rate_by_length: the rate of a batch is multiplied by its steps, divided by those of a usual batch
        (task.text.length_varies)
    clip: a gradient with a larger norm is scaled down to this norm; 0: off (at least 0)
    clip_value: each entry of the gradient is clipped to this size; 0: off (at least 0)
    momentum: mu, the share of the last step that is kept (at least 0 and below 1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    average: average the weights for evaluations, with any rule: from the first update on (always), or from when
        validation stops improving (non_monotone) (off, always, non_monotone)
    average_from: the average begins after this many updates; from then on evaluations use it (at least 0)
    average_patience: averaging begins when a validation is worse than the best of those more than this many
        validations back (between 1 and 1000000)
    average_test: whether average_patience counts back before the newest validation joins the others, as AWD-
        LSTM's authors do, or after, as FPTT's do (before, after)
    schedule: how the rate changes. constant: not at all; factor_at: at schedule_epochs; plateau: when
        validations stop improving; inverse_sqrt: it is divided by the square root of the update's number
        (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by this (above 0)
    schedule_epochs: the rate is multiplied at these epochs (at least 0)
    schedule_patience: this many evaluations in a row may bring no improvement before the rate is multiplied (at
        least 0)
    """

    _table = 'optimizer'
    _name = 'momentum'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'rate_by_length': Field('optimizer.rate_by_length', 'true or false', False, None, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'momentum': Field('optimizer.momentum', 'number', 0.9, 0.0, 1.0, False, True, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'average': Field('optimizer.average', 'text', 'off', None, None, False, False, ('off', 'always', 'non_monotone')),
        'average_from': Field('optimizer.average_from', 'integer', 1, 0.0, None, False, False, ()),
        'average_patience': Field('optimizer.average_patience', 'integer', 5, 1.0, 1000000.0, False, False, ()),
        'average_test': Field('optimizer.average_test', 'text', 'before', None, None, False, False, ('before', 'after')),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        rate_by_length: bool = False,
        clip: float = 0.0,
        clip_value: float = 0.0,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        average: str = 'off',
        average_from: int = 1,
        average_patience: int = 5,
        average_test: str = 'before',
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.rate_by_length = rate_by_length
        self.clip = clip
        self.clip_value = clip_value
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.average = average
        self.average_from = average_from
        self.average_patience = average_patience
        self.average_test = average_test
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class Adam(Settings):
    """The update rule `adam` (docs/optimizers.md).

    rate: learning rate (at least 0)
    rate_by_length: the rate of a batch is multiplied by its steps, divided by those of a usual batch
        (task.text.length_varies)
    clip: a gradient with a larger norm is scaled down to this norm; 0: off (at least 0)
    clip_value: each entry of the gradient is clipped to this size; 0: off (at least 0)
    beta1: share of the old mean of the gradient that is kept (at least 0 and below 1)
    beta2: share of the old mean of the gradient's square that is kept (at least 0 and below 1)
    epsilon: added to the denominator, from 1e-30 on; -1: the rule's own default (between -1 and 1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    average: average the weights for evaluations, with any rule: from the first update on (always), or from when
        validation stops improving (non_monotone) (off, always, non_monotone)
    average_from: the average begins after this many updates; from then on evaluations use it (at least 0)
    average_patience: averaging begins when a validation is worse than the best of those more than this many
        validations back (between 1 and 1000000)
    average_test: whether average_patience counts back before the newest validation joins the others, as AWD-
        LSTM's authors do, or after, as FPTT's do (before, after)
    schedule: how the rate changes. constant: not at all; factor_at: at schedule_epochs; plateau: when
        validations stop improving; inverse_sqrt: it is divided by the square root of the update's number
        (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by this (above 0)
    schedule_epochs: the rate is multiplied at these epochs (at least 0)
    schedule_patience: this many evaluations in a row may bring no improvement before the rate is multiplied (at
        least 0)
    """

    _table = 'optimizer'
    _name = 'adam'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'rate_by_length': Field('optimizer.rate_by_length', 'true or false', False, None, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'beta1': Field('optimizer.beta1', 'number', 0.9, 0.0, 1.0, False, True, ()),
        'beta2': Field('optimizer.beta2', 'number', 0.999, 0.0, 1.0, False, True, ()),
        'epsilon': Field('optimizer.epsilon', 'number', -1.0, -1.0, 1.0, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'average': Field('optimizer.average', 'text', 'off', None, None, False, False, ('off', 'always', 'non_monotone')),
        'average_from': Field('optimizer.average_from', 'integer', 1, 0.0, None, False, False, ()),
        'average_patience': Field('optimizer.average_patience', 'integer', 5, 1.0, 1000000.0, False, False, ()),
        'average_test': Field('optimizer.average_test', 'text', 'before', None, None, False, False, ('before', 'after')),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        rate_by_length: bool = False,
        clip: float = 0.0,
        clip_value: float = 0.0,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = -1.0,
        weight_decay: float = 0.0,
        average: str = 'off',
        average_from: int = 1,
        average_patience: int = 5,
        average_test: str = 'before',
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.rate_by_length = rate_by_length
        self.clip = clip
        self.clip_value = clip_value
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.average = average
        self.average_from = average_from
        self.average_patience = average_patience
        self.average_test = average_test
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class RMSProp(Settings):
    """The update rule `rmsprop` (docs/optimizers.md).

    rate: learning rate (at least 0)
    rate_by_length: the rate of a batch is multiplied by its steps, divided by those of a usual batch
        (task.text.length_varies)
    clip: a gradient with a larger norm is scaled down to this norm; 0: off (at least 0)
    clip_value: each entry of the gradient is clipped to this size; 0: off (at least 0)
    decay: share of the old mean square that is kept; -1: the rule's own default (at least -1 and below 1)
    epsilon: added to the denominator, from 1e-30 on; -1: the rule's own default (between -1 and 1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    average: average the weights for evaluations, with any rule: from the first update on (always), or from when
        validation stops improving (non_monotone) (off, always, non_monotone)
    average_from: the average begins after this many updates; from then on evaluations use it (at least 0)
    average_patience: averaging begins when a validation is worse than the best of those more than this many
        validations back (between 1 and 1000000)
    average_test: whether average_patience counts back before the newest validation joins the others, as AWD-
        LSTM's authors do, or after, as FPTT's do (before, after)
    schedule: how the rate changes. constant: not at all; factor_at: at schedule_epochs; plateau: when
        validations stop improving; inverse_sqrt: it is divided by the square root of the update's number
        (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by this (above 0)
    schedule_epochs: the rate is multiplied at these epochs (at least 0)
    schedule_patience: this many evaluations in a row may bring no improvement before the rate is multiplied (at
        least 0)
    """

    _table = 'optimizer'
    _name = 'rmsprop'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'rate_by_length': Field('optimizer.rate_by_length', 'true or false', False, None, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'decay': Field('optimizer.decay', 'number', -1.0, -1.0, 1.0, False, True, ()),
        'epsilon': Field('optimizer.epsilon', 'number', -1.0, -1.0, 1.0, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'average': Field('optimizer.average', 'text', 'off', None, None, False, False, ('off', 'always', 'non_monotone')),
        'average_from': Field('optimizer.average_from', 'integer', 1, 0.0, None, False, False, ()),
        'average_patience': Field('optimizer.average_patience', 'integer', 5, 1.0, 1000000.0, False, False, ()),
        'average_test': Field('optimizer.average_test', 'text', 'before', None, None, False, False, ('before', 'after')),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        rate_by_length: bool = False,
        clip: float = 0.0,
        clip_value: float = 0.0,
        decay: float = -1.0,
        epsilon: float = -1.0,
        weight_decay: float = 0.0,
        average: str = 'off',
        average_from: int = 1,
        average_patience: int = 5,
        average_test: str = 'before',
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.rate_by_length = rate_by_length
        self.clip = clip
        self.clip_value = clip_value
        self.decay = decay
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.average = average
        self.average_from = average_from
        self.average_patience = average_patience
        self.average_test = average_test
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class RMSPropTF1(Settings):
    """The update rule `rmsprop_tf1` (docs/optimizers.md).

    rate: learning rate (at least 0)
    rate_by_length: the rate of a batch is multiplied by its steps, divided by those of a usual batch
        (task.text.length_varies)
    clip: a gradient with a larger norm is scaled down to this norm; 0: off (at least 0)
    clip_value: each entry of the gradient is clipped to this size; 0: off (at least 0)
    decay: share of the old mean square that is kept; -1: the rule's own default (at least -1 and below 1)
    epsilon: added to the denominator, from 1e-30 on; -1: the rule's own default (between -1 and 1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    average: average the weights for evaluations, with any rule: from the first update on (always), or from when
        validation stops improving (non_monotone) (off, always, non_monotone)
    average_from: the average begins after this many updates; from then on evaluations use it (at least 0)
    average_patience: averaging begins when a validation is worse than the best of those more than this many
        validations back (between 1 and 1000000)
    average_test: whether average_patience counts back before the newest validation joins the others, as AWD-
        LSTM's authors do, or after, as FPTT's do (before, after)
    schedule: how the rate changes. constant: not at all; factor_at: at schedule_epochs; plateau: when
        validations stop improving; inverse_sqrt: it is divided by the square root of the update's number
        (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by this (above 0)
    schedule_epochs: the rate is multiplied at these epochs (at least 0)
    schedule_patience: this many evaluations in a row may bring no improvement before the rate is multiplied (at
        least 0)
    """

    _table = 'optimizer'
    _name = 'rmsprop_tf1'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'rate_by_length': Field('optimizer.rate_by_length', 'true or false', False, None, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'decay': Field('optimizer.decay', 'number', -1.0, -1.0, 1.0, False, True, ()),
        'epsilon': Field('optimizer.epsilon', 'number', -1.0, -1.0, 1.0, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'average': Field('optimizer.average', 'text', 'off', None, None, False, False, ('off', 'always', 'non_monotone')),
        'average_from': Field('optimizer.average_from', 'integer', 1, 0.0, None, False, False, ()),
        'average_patience': Field('optimizer.average_patience', 'integer', 5, 1.0, 1000000.0, False, False, ()),
        'average_test': Field('optimizer.average_test', 'text', 'before', None, None, False, False, ('before', 'after')),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        rate_by_length: bool = False,
        clip: float = 0.0,
        clip_value: float = 0.0,
        decay: float = -1.0,
        epsilon: float = -1.0,
        weight_decay: float = 0.0,
        average: str = 'off',
        average_from: int = 1,
        average_patience: int = 5,
        average_test: str = 'before',
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.rate_by_length = rate_by_length
        self.clip = clip
        self.clip_value = clip_value
        self.decay = decay
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.average = average
        self.average_from = average_from
        self.average_patience = average_patience
        self.average_test = average_test
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class Adagrad(Settings):
    """The update rule `adagrad` (docs/optimizers.md).

    rate: learning rate (at least 0)
    rate_by_length: the rate of a batch is multiplied by its steps, divided by those of a usual batch
        (task.text.length_varies)
    clip: a gradient with a larger norm is scaled down to this norm; 0: off (at least 0)
    clip_value: each entry of the gradient is clipped to this size; 0: off (at least 0)
    epsilon: added to the denominator, from 1e-30 on; -1: the rule's own default (between -1 and 1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    average: average the weights for evaluations, with any rule: from the first update on (always), or from when
        validation stops improving (non_monotone) (off, always, non_monotone)
    average_from: the average begins after this many updates; from then on evaluations use it (at least 0)
    average_patience: averaging begins when a validation is worse than the best of those more than this many
        validations back (between 1 and 1000000)
    average_test: whether average_patience counts back before the newest validation joins the others, as AWD-
        LSTM's authors do, or after, as FPTT's do (before, after)
    schedule: how the rate changes. constant: not at all; factor_at: at schedule_epochs; plateau: when
        validations stop improving; inverse_sqrt: it is divided by the square root of the update's number
        (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by this (above 0)
    schedule_epochs: the rate is multiplied at these epochs (at least 0)
    schedule_patience: this many evaluations in a row may bring no improvement before the rate is multiplied (at
        least 0)
    """

    _table = 'optimizer'
    _name = 'adagrad'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'rate_by_length': Field('optimizer.rate_by_length', 'true or false', False, None, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'epsilon': Field('optimizer.epsilon', 'number', -1.0, -1.0, 1.0, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'average': Field('optimizer.average', 'text', 'off', None, None, False, False, ('off', 'always', 'non_monotone')),
        'average_from': Field('optimizer.average_from', 'integer', 1, 0.0, None, False, False, ()),
        'average_patience': Field('optimizer.average_patience', 'integer', 5, 1.0, 1000000.0, False, False, ()),
        'average_test': Field('optimizer.average_test', 'text', 'before', None, None, False, False, ('before', 'after')),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        rate_by_length: bool = False,
        clip: float = 0.0,
        clip_value: float = 0.0,
        epsilon: float = -1.0,
        weight_decay: float = 0.0,
        average: str = 'off',
        average_from: int = 1,
        average_patience: int = 5,
        average_test: str = 'before',
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.rate_by_length = rate_by_length
        self.clip = clip
        self.clip_value = clip_value
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.average = average
        self.average_from = average_from
        self.average_patience = average_patience
        self.average_test = average_test
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class Adadelta(Settings):
    """The update rule `adadelta` (docs/optimizers.md).

    rate: learning rate (at least 0)
    rate_by_length: the rate of a batch is multiplied by its steps, divided by those of a usual batch
        (task.text.length_varies)
    clip: a gradient with a larger norm is scaled down to this norm; 0: off (at least 0)
    clip_value: each entry of the gradient is clipped to this size; 0: off (at least 0)
    decay: share of the old mean square that is kept; -1: the rule's own default (at least -1 and below 1)
    epsilon: added to the denominator, from 1e-30 on; -1: the rule's own default (between -1 and 1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    average: average the weights for evaluations, with any rule: from the first update on (always), or from when
        validation stops improving (non_monotone) (off, always, non_monotone)
    average_from: the average begins after this many updates; from then on evaluations use it (at least 0)
    average_patience: averaging begins when a validation is worse than the best of those more than this many
        validations back (between 1 and 1000000)
    average_test: whether average_patience counts back before the newest validation joins the others, as AWD-
        LSTM's authors do, or after, as FPTT's do (before, after)
    schedule: how the rate changes. constant: not at all; factor_at: at schedule_epochs; plateau: when
        validations stop improving; inverse_sqrt: it is divided by the square root of the update's number
        (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by this (above 0)
    schedule_epochs: the rate is multiplied at these epochs (at least 0)
    schedule_patience: this many evaluations in a row may bring no improvement before the rate is multiplied (at
        least 0)
    """

    _table = 'optimizer'
    _name = 'adadelta'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'rate_by_length': Field('optimizer.rate_by_length', 'true or false', False, None, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'decay': Field('optimizer.decay', 'number', -1.0, -1.0, 1.0, False, True, ()),
        'epsilon': Field('optimizer.epsilon', 'number', -1.0, -1.0, 1.0, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'average': Field('optimizer.average', 'text', 'off', None, None, False, False, ('off', 'always', 'non_monotone')),
        'average_from': Field('optimizer.average_from', 'integer', 1, 0.0, None, False, False, ()),
        'average_patience': Field('optimizer.average_patience', 'integer', 5, 1.0, 1000000.0, False, False, ()),
        'average_test': Field('optimizer.average_test', 'text', 'before', None, None, False, False, ('before', 'after')),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        rate_by_length: bool = False,
        clip: float = 0.0,
        clip_value: float = 0.0,
        decay: float = -1.0,
        epsilon: float = -1.0,
        weight_decay: float = 0.0,
        average: str = 'off',
        average_from: int = 1,
        average_patience: int = 5,
        average_test: str = 'before',
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.rate_by_length = rate_by_length
        self.clip = clip
        self.clip_value = clip_value
        self.decay = decay
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.average = average
        self.average_from = average_from
        self.average_patience = average_patience
        self.average_test = average_test
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class ASGD(Settings):
    """The update rule `asgd` (docs/optimizers.md).

    rate: learning rate (at least 0)
    rate_by_length: the rate of a batch is multiplied by its steps, divided by those of a usual batch
        (task.text.length_varies)
    clip: a gradient with a larger norm is scaled down to this norm; 0: off (at least 0)
    clip_value: each entry of the gradient is clipped to this size; 0: off (at least 0)
    weight_decay: this times the weights is added to the gradient (at least 0)
    average: average the weights for evaluations, with any rule: from the first update on (always), or from when
        validation stops improving (non_monotone) (off, always, non_monotone)
    average_from: the average begins after this many updates; from then on evaluations use it (at least 0)
    average_patience: averaging begins when a validation is worse than the best of those more than this many
        validations back (between 1 and 1000000)
    average_test: whether average_patience counts back before the newest validation joins the others, as AWD-
        LSTM's authors do, or after, as FPTT's do (before, after)
    schedule: how the rate changes. constant: not at all; factor_at: at schedule_epochs; plateau: when
        validations stop improving; inverse_sqrt: it is divided by the square root of the update's number
        (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by this (above 0)
    schedule_epochs: the rate is multiplied at these epochs (at least 0)
    schedule_patience: this many evaluations in a row may bring no improvement before the rate is multiplied (at
        least 0)
    """

    _table = 'optimizer'
    _name = 'asgd'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'rate_by_length': Field('optimizer.rate_by_length', 'true or false', False, None, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'average': Field('optimizer.average', 'text', 'off', None, None, False, False, ('off', 'always', 'non_monotone')),
        'average_from': Field('optimizer.average_from', 'integer', 1, 0.0, None, False, False, ()),
        'average_patience': Field('optimizer.average_patience', 'integer', 5, 1.0, 1000000.0, False, False, ()),
        'average_test': Field('optimizer.average_test', 'text', 'before', None, None, False, False, ('before', 'after')),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        rate_by_length: bool = False,
        clip: float = 0.0,
        clip_value: float = 0.0,
        weight_decay: float = 0.0,
        average: str = 'off',
        average_from: int = 1,
        average_patience: int = 5,
        average_test: str = 'before',
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.rate_by_length = rate_by_length
        self.clip = clip
        self.clip_value = clip_value
        self.weight_decay = weight_decay
        self.average = average
        self.average_from = average_from
        self.average_patience = average_patience
        self.average_test = average_test
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()
