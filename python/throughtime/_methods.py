"""Made by generate.py out of the option table: do not edit."""

from __future__ import annotations

from typing import Sequence

from ._settings import Field, Settings

__all__ = ['BPTT', 'TBPTT', 'AdaptiveTBPTT', 'FPTT', 'FPP', 'SlidingTBPTT', 'TargetPropagation', 'SGD', 'Momentum',
    'Adam', 'RMSProp', 'RMSPropTF1', 'Adagrad', 'Adadelta', 'ASGD']

class BPTT(Settings):
    """The training method `bptt` (docs/options.md).

    memory: keep the full tape, or recompute it from about sqrt(T) states (full, recompute)
    aux_losses: the losses of fptt at the ends of `windows` windows, one update on their mean; the options below
        are theirs
    windows: K, windows of a sequence (at least 0)
    window_length: steps of a window, instead of K (at least 0)
    remainder: steps that K does not divide: one more window, part of the last, or spread over all windows;
        auto: one more, spread where it would be longer than the others (auto, extra, absorb, spread)
    intermediate: one target at the end: losses at the ends of windows, at every step, or none; auto: window_end
        there (auto, window_end, every_step, none)
    q: Q is the last epoch's prediction for the example, that for a wrongly or rightly classified example of the
        class in the batch before, or uniform; auto: examples where they are finite (auto, examples,
        class_wrong, class_right, uniform)
    q_epoch: q = class_*: uniform before this epoch (the first is 1) and in its first batch (at least 1)
    beta: share of the target: t / T, p / K', or p - 1 + 1 / K (a number's weight in the released code) (time,
        window, ref_index)
    divergence: Div is a sum over classes, or their mean (sum, mean)
    one_hot_from: Q is the label in windows p >= this; 0: in none (at least 0)
    skip_last: the last window is never trained on
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

    preset: steps/losses/stride from truncation K: paper 2K+1/K/K, ref 2K-1/K/K, plain K/K/K, original K/1/1,
        double-tf (2K-1)/(2K-1)/(2K-1), buffer K/K/K and the next K-1 losses flow in (custom, paper, ref, plain,
        original, double-tf, buffer)
    truncation: presets: K (at least 0)
    steps: custom: steps in a window (at least 0)
    losses: custom: last steps of a window that carry a loss (at least 0)
    stride: custom: steps from one window to the next (at least 0)
    chunk: windows do not look back over multiples of this many steps of a stretch; 0: off (at least 0)
    ref_stream: with chunk: begin windows with the wrong states that the released code takes there
    rate_scaling: the rate times sqrt(K) or K, the truncation (custom: losses), whatever a window has (none,
        sqrt, linear)
    clip_by_losses: optimizer.clip divided by the losses of a window, as the released code of adaptive TBPTT
    delta: estimates: relative bias of the gradient that is tolerated (above 0 and below 1)
    shortest: estimates: K_min (between 1 and 500000000)
    longest: estimates: K_max (between 1 and 500000000)
    lags: estimates: R, the largest lag; 0: 100, or what a row of the data has after the burn-in (at least 0)
    tail: estimates: tau, beta comes from the lags tau to R; 0: the integer part of 0.9 R (at least 0)
    positions: estimates: S, random places of the training data; 0: train.batch (between 0 and 65536)
    burn_in: estimates: steps from the zero state before the R cells (between 0 and 1000000)
    estimate_every: estimates: updates between them; 0: once per epoch (at least 0)
    logged_estimates: estimates that are only logged, with their 95 % range (between 0 and 10000)
    decay: estimates: beta by regression (Eq. 22), max (Eq. 21) or a quantile of the slopes (regression, max,
        quantile)
    quantile: decay = quantile: alpha, the 1 - alpha quantile (between 0 and 1)
    norm: estimates: of dL/dh, or summed over layers, or weighted by the size of dh/dW (euclidean, per_layer,
        weighted)
    gradient_size: estimates: C_k from mean norms, from the norm of summed mean vectors, or exact (small models)
        (norms, vectors, exact)
    estimate_dropout: estimates: with dropout
    variants: estimates: what the released code does in another way (docs/adaptive-tbptt.md) (mean_of_logs,
        phi_from_one, tau_twice, tight_tail, ols_all_lags, max_from_tau, global_lower_bound, unit_bias)
    """

    _table = 'learner'
    _name = 'tbptt'
    _fields = {
        'preset': Field('learner.tbptt.preset', 'text', 'custom', None, None, False, False, ('custom', 'paper', 'ref', 'plain', 'original', 'double-tf', 'buffer')),
        'truncation': Field('learner.tbptt.truncation', 'integer', 0, 0.0, None, False, False, ()),
        'steps': Field('learner.tbptt.steps', 'integer', 0, 0.0, None, False, False, ()),
        'losses': Field('learner.tbptt.losses', 'integer', 0, 0.0, None, False, False, ()),
        'stride': Field('learner.tbptt.stride', 'integer', 0, 0.0, None, False, False, ()),
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

    preset: steps/losses/stride from truncation K: paper 2K+1/K/K, ref 2K-1/K/K, plain K/K/K, original K/1/1,
        double-tf (2K-1)/(2K-1)/(2K-1), buffer K/K/K and the next K-1 losses flow in; not custom (custom, paper,
        ref, plain, original, double-tf, buffer)
    truncation: K_0, before the first estimate; 0: shortest (at least 0)
    chunk: windows do not look back over multiples of this many steps of a stretch; 0: off (at least 0)
    ref_stream: with chunk: begin windows with the wrong states that the released code takes there
    rate_scaling: the rate times sqrt(K) or K, the truncation (custom: losses), whatever a window has (none,
        sqrt, linear)
    clip_by_losses: optimizer.clip divided by the losses of a window, as the released code of adaptive TBPTT
    delta: estimates: relative bias of the gradient that is tolerated (above 0 and below 1)
    shortest: estimates: K_min (between 1 and 500000000)
    longest: estimates: K_max (between 1 and 500000000)
    lags: estimates: R, the largest lag; 0: 100, or what a row of the data has after the burn-in (at least 0)
    tail: estimates: tau, beta comes from the lags tau to R; 0: the integer part of 0.9 R (at least 0)
    positions: estimates: S, random places of the training data; 0: train.batch (between 0 and 65536)
    burn_in: estimates: steps from the zero state before the R cells (between 0 and 1000000)
    estimate_every: estimates: updates between them; 0: once per epoch (at least 0)
    logged_estimates: estimates that are only logged, with their 95 % range (between 0 and 10000)
    decay: estimates: beta by regression (Eq. 22), max (Eq. 21) or a quantile of the slopes (regression, max,
        quantile)
    quantile: decay = quantile: alpha, the 1 - alpha quantile (between 0 and 1)
    norm: estimates: of dL/dh, or summed over layers, or weighted by the size of dh/dW (euclidean, per_layer,
        weighted)
    gradient_size: estimates: C_k from mean norms, from the norm of summed mean vectors, or exact (small models)
        (norms, vectors, exact)
    estimate_dropout: estimates: with dropout
    variants: estimates: what the released code does in another way (docs/adaptive-tbptt.md) (mean_of_logs,
        phi_from_one, tau_twice, tight_tail, ols_all_lags, max_from_tau, global_lower_bound, unit_bias)
    repeats: estimates behind a choice, K is the integer part of their mean (between 1 and 1000)
    estimate_first: estimate before the first update (Algorithm 1), or begin with truncation
    """

    _table = 'learner'
    _name = 'adaptive_tbptt'
    _fields = {
        'preset': Field('learner.adaptive_tbptt.preset', 'text', 'paper', None, None, False, False, ('custom', 'paper', 'ref', 'plain', 'original', 'double-tf', 'buffer')),
        'truncation': Field('learner.adaptive_tbptt.truncation', 'integer', 0, 0.0, None, False, False, ()),
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

    windows: K, windows of a sequence (at least 0)
    window_length: steps of a window, instead of K (at least 0)
    remainder: steps that K does not divide: one more window, part of the last, or spread over all windows;
        auto: one more, spread where it would be longer than the others (auto, extra, absorb, spread)
    form: running estimate lambda, Algorithm 2 to the letter, or no regulariser (lambda, gradient, ogd)
    alpha: strength of the regulariser; positive unless form = ogd (at least 0)
    alpha_growth: factor of alpha after each epoch (above 0)
    alpha_most: bound of a growing alpha; 0: none (at least 0)
    averaging: b, weight of W in its average (between 0 and 1)
    penalty: lambda form: m, multiple of alpha in the gradient (at least 0)
    kappa: gradient form: weight of the last gradient (at least 0)
    inner_iterations: steps of W on each window (at least 1)
    inner_state: inner iterations restart at the window's first state, or go on from its last (restart,
        continue)
    take_average: W <- its average at the end of an epoch
    reset_multiplier: lambda <- 0 at the end of an epoch
    carry: a stream goes on from the state of the windows, or of a rerun with the new weights (windows, rerun)
    masks: locked dropout masks are drawn per window or sequence (window, sequence)
    rate_by_windows: the rate is divided by twice the number of windows of the sequence
    rate_by_length: the rate is multiplied by the sequence's share of the longest one
    intermediate: one target at the end: losses at the ends of windows, at every step, or none; auto: window_end
        there (auto, window_end, every_step, none)
    q: Q is the last epoch's prediction for the example, that for a wrongly or rightly classified example of the
        class in the batch before, or uniform; auto: examples where they are finite (auto, examples,
        class_wrong, class_right, uniform)
    q_epoch: q = class_*: uniform before this epoch (the first is 1) and in its first batch (at least 1)
    beta: share of the target: t / T, p / K', or p - 1 + 1 / K (a number's weight in the released code) (time,
        window, ref_index)
    divergence: Div is a sum over classes, or their mean (sum, mean)
    one_hot_from: Q is the label in windows p >= this; 0: in none (at least 0)
    skip_last: the last window is never trained on
    """

    _table = 'learner'
    _name = 'fptt'
    _fields = {
        'windows': Field('learner.fptt.windows', 'integer', 0, 0.0, None, False, False, ()),
        'window_length': Field('learner.fptt.window_length', 'integer', 0, 0.0, None, False, False, ()),
        'remainder': Field('learner.fptt.remainder', 'text', 'auto', None, None, False, False, ('auto', 'extra', 'absorb', 'spread')),
        'form': Field('learner.fptt.form', 'text', 'lambda', None, None, False, False, ('lambda', 'gradient', 'ogd')),
        'alpha': Field('learner.fptt.alpha', 'number', 0.1, 0.0, None, False, False, ()),
        'alpha_growth': Field('learner.fptt.alpha_growth', 'number', 1.0, 0.0, None, True, False, ()),
        'alpha_most': Field('learner.fptt.alpha_most', 'number', 0.0, 0.0, None, False, False, ()),
        'averaging': Field('learner.fptt.averaging', 'number', 0.5, 0.0, 1.0, False, False, ()),
        'penalty': Field('learner.fptt.penalty', 'number', 1.0, 0.0, None, False, False, ()),
        'kappa': Field('learner.fptt.kappa', 'number', 1.0, 0.0, None, False, False, ()),
        'inner_iterations': Field('learner.fptt.inner_iterations', 'integer', 1, 1.0, None, False, False, ()),
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
    }

    def __init__(
        self,
        *,
        windows: int = 0,
        window_length: int = 0,
        remainder: str = 'auto',
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
    ) -> None:
        self.windows = windows
        self.window_length = window_length
        self.remainder = remainder
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
        self._check()


class FPP(Settings):
    """The training method `fpp` (docs/options.md).

    steps: T, steps of a trajectory (at least 0)
    buffer: N, transitions that are kept (at least 1)
    lambda_: weight of the penalty (at least 0)
    lambda_growth: factor of lambda per 1000 steps (above 0)
    lambda_most: bound of a growing lambda; 0: none (at least 0)
    penalty: lambda/2 times the sum of squares per sample, or lambda times their mean (sum_half, mean)
    penalise: whose gradient holds the penalty (both, weights, states, none)
    updates: M, updates per step (at least 1)
    order: M updates one after the other, or M gradients at common values (sequential, parallel)
    state_rate: step size of the states; 0: they stay (at least 0)
    state_optimizer: update rule of the states (sgd, rmsprop)
    state_gradient: a state descends its own sample's loss, or the mean of the batch (sample, batch_mean)
    batch: an update takes one end for all streams, or `blocks` trajectories (streams, blocks)
    blocks: batch = blocks: trajectories of an update (at least 1)
    collisions: batch = blocks: two gradients of one state are added, or the last one stays (add, overwrite)
    sample: where trajectories end (uniform, newest)
    ends: they end at steps with a target, or anywhere (weighted, all)
    newest: the newest transition may be drawn
    feed: the next step goes on from the buffer's state, or from a state that no update touches (buffer,
        running)
    write_back: states change in each of M updates, or in the last (each, last)
    variant: plain, Decay-FPP or Random-FPP (plain, decay, random)
    phase_steps: decay and random: steps of a phase, a fifth of the run (at least 0)
    decay: variant = decay: how T falls and M rises (halving, subtractive)
    chance: variant = random: how the chance of T steps falls (additive, multiplicative, divided)
    fixed: fill the buffer once, then learn from it alone
    """

    _table = 'learner'
    _name = 'fpp'
    _fields = {
        'steps': Field('learner.fpp.steps', 'integer', 0, 0.0, None, False, False, ()),
        'buffer': Field('learner.fpp.buffer', 'integer', 1000, 1.0, None, False, False, ()),
        'lambda_': Field('learner.fpp.lambda', 'number', 1.0, 0.0, None, False, False, ()),
        'lambda_growth': Field('learner.fpp.lambda_growth', 'number', 1.0, 0.0, None, True, False, ()),
        'lambda_most': Field('learner.fpp.lambda_most', 'number', 0.0, 0.0, None, False, False, ()),
        'penalty': Field('learner.fpp.penalty', 'text', 'sum_half', None, None, False, False, ('sum_half', 'mean')),
        'penalise': Field('learner.fpp.penalise', 'text', 'both', None, None, False, False, ('both', 'weights', 'states', 'none')),
        'updates': Field('learner.fpp.updates', 'integer', 1, 1.0, None, False, False, ()),
        'order': Field('learner.fpp.order', 'text', 'sequential', None, None, False, False, ('sequential', 'parallel')),
        'state_rate': Field('learner.fpp.state_rate', 'number', 0.01, 0.0, None, False, False, ()),
        'state_optimizer': Field('learner.fpp.state_optimizer', 'text', 'sgd', None, None, False, False, ('sgd', 'rmsprop')),
        'state_gradient': Field('learner.fpp.state_gradient', 'text', 'sample', None, None, False, False, ('sample', 'batch_mean')),
        'batch': Field('learner.fpp.batch', 'text', 'streams', None, None, False, False, ('streams', 'blocks')),
        'blocks': Field('learner.fpp.blocks', 'integer', 1, 1.0, None, False, False, ()),
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

    steps: T, steps of a window (at least 0)
    start: a window starts from the stored state, or from the last state of the window before (stored, shifted)
    """

    _table = 'learner'
    _name = 'sliding_tbptt'
    _fields = {
        'steps': Field('learner.sliding_tbptt.steps', 'integer', 0, 0.0, None, False, False, ()),
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

    block: B, steps of a block; it must divide the steps of a stretch (at least 0)
    lambda_: weight of the springs; positive unless solver = pm (at least 0)
    lambda_factor: factor of lambda after each epoch (above 0)
    solver: alternate H, theta, duals; joint steps and duals; no duals (admm, alm, pm)
    state_steps: steps on the free states H; alm: joint steps (at least 0)
    theta_steps: steps on the parameters (at least 1)
    rounds: outer iterations on a stretch (at least 1)
    h_solver: H moves along its gradient, or targets are made in one sweep backwards (gradient, backward_sweep)
    state_optimizer: update rule of H (sgd, momentum, adam, rmsprop, rmsprop_tf1, adagrad, adadelta, asgd)
    state_rate: rate of H; eta of backward_sweep (at least 0)
    state_epsilon: epsilon of H's rule; -1: its own default (at least -1)
    state_clip: largest norm of the gradient in H; 0: off (at least 0)
    state_reset: the moments of H start again with every stretch
    dual: scaled dual step, or the one that the paper prints (scaled, literal)
    dual_rate: alpha_u (at least 0)
    dual_clip: largest norm of the gradient in U; 0: off (at least 0)
    first_dual_epoch: duals stay zero before this epoch (at least 1)
    dual_before_theta: H, U, theta instead of H, theta, U
    init: H of a stretch from one run through it, from blocks that start at zero, zero, or kept for ever (batch
        mode) (chain, zero_start, zeros, persist)
    first_free: the state that enters a stretch is moved too
    carry_epochs: a new epoch goes on from the last state of the one before
    loss_scale: losses and springs are summed, or their means taken (sum, mean)
    shard: blocks of each row that are worked on at a time; 0: all, with init = persist 256 (at least 0)
    test_steps: steps on the state before each block that an evaluation has seen; 0: none (at least 0)
    memory: MiB that the tables of H and U may take; 0: what the machine has (at least 0)
    """

    _table = 'learner'
    _name = 'target_propagation'
    _fields = {
        'block': Field('learner.target_propagation.block', 'integer', 0, 0.0, None, False, False, ()),
        'lambda_': Field('learner.target_propagation.lambda', 'number', 1.0, 0.0, None, False, False, ()),
        'lambda_factor': Field('learner.target_propagation.lambda_factor', 'number', 1.0, 0.0, None, True, False, ()),
        'solver': Field('learner.target_propagation.solver', 'text', 'admm', None, None, False, False, ('admm', 'alm', 'pm')),
        'state_steps': Field('learner.target_propagation.state_steps', 'integer', 1, 0.0, None, False, False, ()),
        'theta_steps': Field('learner.target_propagation.theta_steps', 'integer', 1, 1.0, None, False, False, ()),
        'rounds': Field('learner.target_propagation.rounds', 'integer', 1, 1.0, None, False, False, ()),
        'h_solver': Field('learner.target_propagation.h_solver', 'text', 'gradient', None, None, False, False, ('gradient', 'backward_sweep')),
        'state_optimizer': Field('learner.target_propagation.state_optimizer', 'text', 'adagrad', None, None, False, False, ('sgd', 'momentum', 'adam', 'rmsprop', 'rmsprop_tf1', 'adagrad', 'adadelta', 'asgd')),
        'state_rate': Field('learner.target_propagation.state_rate', 'number', 0.1, 0.0, None, False, False, ()),
        'state_epsilon': Field('learner.target_propagation.state_epsilon', 'number', 1e-05, -1.0, None, False, False, ()),
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
        'shard': Field('learner.target_propagation.shard', 'integer', 0, 0.0, None, False, False, ()),
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
    clip: largest norm of the gradient; 0: off (at least 0)
    clip_value: largest size of a gradient's entry; 0: off (at least 0)
    weight_decay: this times the weights is added to the gradient (at least 0)
    schedule: the rate over time (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by it (above 0)
    schedule_epochs: at these epochs (at least 0)
    schedule_patience: evaluations without improvement that are forgiven (at least 0)
    """

    _table = 'optimizer'
    _name = 'sgd'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        clip: float = 0.0,
        clip_value: float = 0.0,
        weight_decay: float = 0.0,
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.clip = clip
        self.clip_value = clip_value
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class Momentum(Settings):
    """The update rule `momentum` (docs/optimizers.md).

    rate: learning rate (at least 0)
    clip: largest norm of the gradient; 0: off (at least 0)
    clip_value: largest size of a gradient's entry; 0: off (at least 0)
    momentum: mu (at least 0 and below 1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    schedule: the rate over time (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by it (above 0)
    schedule_epochs: at these epochs (at least 0)
    schedule_patience: evaluations without improvement that are forgiven (at least 0)
    """

    _table = 'optimizer'
    _name = 'momentum'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'momentum': Field('optimizer.momentum', 'number', 0.9, 0.0, 1.0, False, True, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        clip: float = 0.0,
        clip_value: float = 0.0,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.clip = clip
        self.clip_value = clip_value
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class Adam(Settings):
    """The update rule `adam` (docs/optimizers.md).

    rate: learning rate (at least 0)
    clip: largest norm of the gradient; 0: off (at least 0)
    clip_value: largest size of a gradient's entry; 0: off (at least 0)
    beta1: smoothing of the gradient (at least 0 and below 1)
    beta2: smoothing of its square (at least 0 and below 1)
    epsilon: -1: the rule's own default (at least -1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    schedule: the rate over time (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by it (above 0)
    schedule_epochs: at these epochs (at least 0)
    schedule_patience: evaluations without improvement that are forgiven (at least 0)
    """

    _table = 'optimizer'
    _name = 'adam'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'beta1': Field('optimizer.beta1', 'number', 0.9, 0.0, 1.0, False, True, ()),
        'beta2': Field('optimizer.beta2', 'number', 0.999, 0.0, 1.0, False, True, ()),
        'epsilon': Field('optimizer.epsilon', 'number', -1.0, -1.0, None, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        clip: float = 0.0,
        clip_value: float = 0.0,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = -1.0,
        weight_decay: float = 0.0,
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.clip = clip
        self.clip_value = clip_value
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class RMSProp(Settings):
    """The update rule `rmsprop` (docs/optimizers.md).

    rate: learning rate (at least 0)
    clip: largest norm of the gradient; 0: off (at least 0)
    clip_value: largest size of a gradient's entry; 0: off (at least 0)
    decay: smoothing; -1: the rule's own default (at least -1 and below 1)
    epsilon: -1: the rule's own default (at least -1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    schedule: the rate over time (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by it (above 0)
    schedule_epochs: at these epochs (at least 0)
    schedule_patience: evaluations without improvement that are forgiven (at least 0)
    """

    _table = 'optimizer'
    _name = 'rmsprop'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'decay': Field('optimizer.decay', 'number', -1.0, -1.0, 1.0, False, True, ()),
        'epsilon': Field('optimizer.epsilon', 'number', -1.0, -1.0, None, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        clip: float = 0.0,
        clip_value: float = 0.0,
        decay: float = -1.0,
        epsilon: float = -1.0,
        weight_decay: float = 0.0,
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.clip = clip
        self.clip_value = clip_value
        self.decay = decay
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class RMSPropTF1(Settings):
    """The update rule `rmsprop_tf1` (docs/optimizers.md).

    rate: learning rate (at least 0)
    clip: largest norm of the gradient; 0: off (at least 0)
    clip_value: largest size of a gradient's entry; 0: off (at least 0)
    decay: smoothing; -1: the rule's own default (at least -1 and below 1)
    epsilon: -1: the rule's own default (at least -1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    schedule: the rate over time (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by it (above 0)
    schedule_epochs: at these epochs (at least 0)
    schedule_patience: evaluations without improvement that are forgiven (at least 0)
    """

    _table = 'optimizer'
    _name = 'rmsprop_tf1'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'decay': Field('optimizer.decay', 'number', -1.0, -1.0, 1.0, False, True, ()),
        'epsilon': Field('optimizer.epsilon', 'number', -1.0, -1.0, None, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        clip: float = 0.0,
        clip_value: float = 0.0,
        decay: float = -1.0,
        epsilon: float = -1.0,
        weight_decay: float = 0.0,
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.clip = clip
        self.clip_value = clip_value
        self.decay = decay
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class Adagrad(Settings):
    """The update rule `adagrad` (docs/optimizers.md).

    rate: learning rate (at least 0)
    clip: largest norm of the gradient; 0: off (at least 0)
    clip_value: largest size of a gradient's entry; 0: off (at least 0)
    epsilon: -1: the rule's own default (at least -1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    schedule: the rate over time (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by it (above 0)
    schedule_epochs: at these epochs (at least 0)
    schedule_patience: evaluations without improvement that are forgiven (at least 0)
    """

    _table = 'optimizer'
    _name = 'adagrad'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'epsilon': Field('optimizer.epsilon', 'number', -1.0, -1.0, None, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        clip: float = 0.0,
        clip_value: float = 0.0,
        epsilon: float = -1.0,
        weight_decay: float = 0.0,
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.clip = clip
        self.clip_value = clip_value
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class Adadelta(Settings):
    """The update rule `adadelta` (docs/optimizers.md).

    rate: learning rate (at least 0)
    clip: largest norm of the gradient; 0: off (at least 0)
    clip_value: largest size of a gradient's entry; 0: off (at least 0)
    decay: smoothing; -1: the rule's own default (at least -1 and below 1)
    epsilon: -1: the rule's own default (at least -1)
    weight_decay: this times the weights is added to the gradient (at least 0)
    schedule: the rate over time (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by it (above 0)
    schedule_epochs: at these epochs (at least 0)
    schedule_patience: evaluations without improvement that are forgiven (at least 0)
    """

    _table = 'optimizer'
    _name = 'adadelta'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'decay': Field('optimizer.decay', 'number', -1.0, -1.0, 1.0, False, True, ()),
        'epsilon': Field('optimizer.epsilon', 'number', -1.0, -1.0, None, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        clip: float = 0.0,
        clip_value: float = 0.0,
        decay: float = -1.0,
        epsilon: float = -1.0,
        weight_decay: float = 0.0,
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.clip = clip
        self.clip_value = clip_value
        self.decay = decay
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()


class ASGD(Settings):
    """The update rule `asgd` (docs/optimizers.md).

    rate: learning rate (at least 0)
    clip: largest norm of the gradient; 0: off (at least 0)
    clip_value: largest size of a gradient's entry; 0: off (at least 0)
    weight_decay: this times the weights is added to the gradient (at least 0)
    average_from: the average begins after this update; evaluations then use it (at least 1)
    schedule: the rate over time (constant, factor_at, plateau, inverse_sqrt)
    schedule_factor: the rate is multiplied by it (above 0)
    schedule_epochs: at these epochs (at least 0)
    schedule_patience: evaluations without improvement that are forgiven (at least 0)
    """

    _table = 'optimizer'
    _name = 'asgd'
    _fields = {
        'rate': Field('optimizer.rate', 'number', 0.001, 0.0, None, False, False, ()),
        'clip': Field('optimizer.clip', 'number', 0.0, 0.0, None, False, False, ()),
        'clip_value': Field('optimizer.clip_value', 'number', 0.0, 0.0, None, False, False, ()),
        'weight_decay': Field('optimizer.weight_decay', 'number', 0.0, 0.0, None, False, False, ()),
        'average_from': Field('optimizer.average_from', 'integer', 1, 1.0, None, False, False, ()),
        'schedule': Field('optimizer.schedule', 'text', 'constant', None, None, False, False, ('constant', 'factor_at', 'plateau', 'inverse_sqrt')),
        'schedule_factor': Field('optimizer.schedule_factor', 'number', 0.5, 0.0, None, True, False, ()),
        'schedule_epochs': Field('optimizer.schedule_epochs', 'number or list of numbers', [], 0.0, None, False, False, ()),
        'schedule_patience': Field('optimizer.schedule_patience', 'integer', 0, 0.0, None, False, False, ()),
    }

    def __init__(
        self,
        *,
        rate: float = 0.001,
        clip: float = 0.0,
        clip_value: float = 0.0,
        weight_decay: float = 0.0,
        average_from: int = 1,
        schedule: str = 'constant',
        schedule_factor: float = 0.5,
        schedule_epochs: float | Sequence[float] = [],
        schedule_patience: int = 0,
    ) -> None:
        self.rate = rate
        self.clip = clip
        self.clip_value = clip_value
        self.weight_decay = weight_decay
        self.average_from = average_from
        self.schedule = schedule
        self.schedule_factor = schedule_factor
        self.schedule_epochs = schedule_epochs
        self.schedule_patience = schedule_patience
        self._check()
