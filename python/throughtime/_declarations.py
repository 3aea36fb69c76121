"""Made by generate.py out of include/throughtime/c.h: do not edit."""

from __future__ import annotations

from ctypes import CDLL, CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p

Progress = CFUNCTYPE(c_int, c_void_p, c_char_p)

TT_OK = 0
TT_FAILED = 1
TT_INVALID = 2
TT_HANDLE = 3
TT_MEMORY = 4
TT_UNKNOWN = 5


def declare(library: CDLL) -> None:
    library.tt_version.restype = c_char_p
    library.tt_version.argtypes = []
    library.tt_last_error.restype = c_char_p
    library.tt_last_error.argtypes = []
    library.tt_free.restype = c_int
    library.tt_free.argtypes = [c_int64]
    library.tt_options.restype = c_int
    library.tt_options.argtypes = [c_void_p, c_size_t, POINTER(c_size_t)]
    library.tt_options_read.restype = c_int
    library.tt_options_read.argtypes = [c_char_p, c_char_p]
    library.tt_data_new.restype = c_int
    library.tt_data_new.argtypes = [c_int32, c_int32, c_int32, c_int32, c_int32, c_int32, POINTER(c_int64)]
    library.tt_data_add.restype = c_int
    library.tt_data_add.argtypes = [c_int64, c_int32, c_int64, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]
    library.tt_model_new.restype = c_int
    library.tt_model_new.argtypes = [c_char_p, c_int32, c_int32, c_int32, c_int32, POINTER(c_int64)]
    library.tt_model_copy.restype = c_int
    library.tt_model_copy.argtypes = [c_int64, POINTER(c_int64)]
    library.tt_model_set_options.restype = c_int
    library.tt_model_set_options.argtypes = [c_int64, c_char_p]
    library.tt_model_describe.restype = c_int
    library.tt_model_describe.argtypes = [c_int64, c_void_p, c_size_t, POINTER(c_size_t)]
    library.tt_model_get_parameters.restype = c_int
    library.tt_model_get_parameters.argtypes = [c_int64, c_void_p, c_int64]
    library.tt_model_set_parameters.restype = c_int
    library.tt_model_set_parameters.argtypes = [c_int64, c_void_p, c_int64]
    library.tt_model_fit.restype = c_int
    library.tt_model_fit.argtypes = [c_int64, c_int64, c_char_p, c_int32, c_int32, Progress, c_void_p]
    library.tt_model_predict.restype = c_int
    library.tt_model_predict.argtypes = [c_int64, c_int64, c_int32, c_void_p, c_int64]
    library.tt_model_diagnose.restype = c_int
    library.tt_model_diagnose.argtypes = [
        c_int64, c_int64, c_int32, c_int32, c_int32, c_void_p, c_size_t, POINTER(c_size_t),
    ]
    library.tt_model_save.restype = c_int
    library.tt_model_save.argtypes = [c_int64, c_char_p, c_char_p]
    library.tt_model_load.restype = c_int
    library.tt_model_load.argtypes = [c_char_p, POINTER(c_int64)]
    library.tt_model_note.restype = c_int
    library.tt_model_note.argtypes = [c_int64, c_void_p, c_size_t, POINTER(c_size_t)]
    library.tt_stream_predict.restype = c_int
    library.tt_stream_predict.argtypes = [c_int64, c_int32, c_void_p, c_int32, c_void_p]
    library.tt_stream_observe.restype = c_int
    library.tt_stream_observe.argtypes = [c_int64, c_int32, c_void_p, c_int32, c_void_p, c_int32, c_void_p]
    library.tt_stream_observe_many.restype = c_int
    library.tt_stream_observe_many.argtypes = [
        c_int64, c_int32, c_int64, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,
    ]
    library.tt_stream_advance.restype = c_int
    library.tt_stream_advance.argtypes = [c_int64, c_int32, c_void_p, c_int32, c_void_p]
    library.tt_stream_learn.restype = c_int
    library.tt_stream_learn.argtypes = [c_int64, c_int32, c_void_p, c_int32, c_void_p, c_int32]
    library.tt_stream_forecast.restype = c_int
    library.tt_stream_forecast.argtypes = [c_int64, c_int32, c_int32, c_void_p, c_void_p]
    library.tt_stream_reset.restype = c_int
    library.tt_stream_reset.argtypes = [c_int64, c_int32]
    library.tt_stream_end.restype = c_int
    library.tt_stream_end.argtypes = [c_int64]
    library.tt_stream_facts.restype = c_int
    library.tt_stream_facts.argtypes = [c_int64, POINTER(c_int64), POINTER(c_int64)]
    library.tt_scales_begin.restype = c_int
    library.tt_scales_begin.argtypes = [c_int64]
    library.tt_scales_add.restype = c_int
    library.tt_scales_add.argtypes = [c_int64, c_int64, c_void_p, c_void_p]
    library.tt_scales_apply.restype = c_int
    library.tt_scales_apply.argtypes = [c_int64, c_int64, c_int32, c_void_p, c_void_p]
    library.tt_scales_undo.restype = c_int
    library.tt_scales_undo.argtypes = [c_int64, c_int64, c_void_p]
    library.tt_scales_get.restype = c_int
    library.tt_scales_get.argtypes = [c_int64, c_void_p, c_void_p, c_int64]
    library.tt_engine_new.restype = c_int
    library.tt_engine_new.argtypes = [c_int64, POINTER(c_int64)]
    library.tt_engine_buffer.restype = c_int
    library.tt_engine_buffer.argtypes = [c_int64, c_int64, POINTER(c_int32)]
    library.tt_engine_write.restype = c_int
    library.tt_engine_write.argtypes = [c_int64, c_int32, c_void_p, c_int64]
    library.tt_engine_read.restype = c_int
    library.tt_engine_read.argtypes = [c_int64, c_int32, c_void_p, c_int64]
    library.tt_window_new.restype = c_int
    library.tt_window_new.argtypes = [
        c_int64, c_int32, c_int32, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_int64),
    ]
    library.tt_engine_unroll.restype = c_int
    library.tt_engine_unroll.argtypes = [c_int64, c_int64, c_int32, c_int32, c_int32, c_int32, c_int32, c_int32]
    library.tt_engine_pull_back.restype = c_int
    library.tt_engine_pull_back.argtypes = [c_int64, c_int32, c_int32, c_int32, c_int32]
    library.tt_engine_update.restype = c_int
    library.tt_engine_update.argtypes = [c_int64, c_int32, c_double, c_double]
    library.tt_train.restype = c_int
    library.tt_train.argtypes = [c_char_p, c_char_p, Progress, c_void_p, c_void_p, c_size_t, POINTER(c_size_t)]
    library.tt_evaluate.restype = c_int
    library.tt_evaluate.argtypes = [c_char_p, c_char_p, c_void_p, c_size_t, POINTER(c_size_t)]
