"""The kernels of segment queries compiled ahead, with the very types that real chunks have."""

from __future__ import annotations

import numpy as np

from trellis.kernels import bands, moments, pairs, scans, trends
from trellis.kernels import opcodes as o

__all__ = ["compile_segment_joins", "compile_segment_values"]


def compile_segment_joins() -> None:
    """Compile or load what combines sets of segments."""
    none = np.zeros(0, np.int64)
    rows = np.zeros(1, np.int64)
    flags = np.ones(1, np.bool_)
    band = np.zeros((1, 1), np.uint64)
    begins = np.zeros(2, np.int64)
    marks = np.zeros(2, np.uint64)
    bands.mask_band(rows, rows, band)
    bands.set_bits(none, none, band)
    bands.count_bits(band)
    bands.list_bits(np.zeros((1, 1), np.uint64), none, none)
    bands.concat_bands(band, band, 0, band)
    bands.pad_before(band, rows, band)
    bands.fill_after(band, rows, 1, band)
    bands.close_band(band, 0, band)
    pairs.fill_pairs(begins, rows, rows, 0, none, none)
    pairs.merge_pairs(none, none, none, none, True, True, True, none, none)
    for link in (pairs.concat_pairs, pairs.pad_pairs, pairs.chain_pairs):
        link(none, none, begins, none, 0, rows, rows, marks, none, none, np.zeros(3, np.int64))
    pairs.join_pairs(none, none, none, begins, none, rows, rows, none, none, np.zeros(3, np.int64))
    pairs.reach_rows(rows, flags, begins, 0, 0, rows, rows, np.ones(1, np.int64))
    pairs.skip_matches(none, none, none, none, True, False, np.zeros(0, np.bool_))
    scans.count_begins(none, begins)
    scans.clip_ranges(none, none, none, False, 1, 1, none, none, none, none, none)
    scans.spread_reach(none, none, none, rows, rows.copy())
    scans.keep_ends(none, none, rows, none, none)


def compile_segment_values() -> None:
    """Compile or load what computes and tests values of segments."""
    none = np.zeros(0, np.int64)
    rows = np.zeros(1, np.int64)
    flags = np.ones(1, np.bool_)
    reals = np.zeros(1, np.float64)
    offsets = np.array([0, 1], np.int64)
    base, sums = np.zeros((1, 1), np.int64), np.zeros((4, 8), np.float64)
    blocks = np.array([64], np.int64)
    no_reals, no_flags = np.zeros(0, np.float64), np.zeros(0, np.bool_)
    moments.fill_moments(reals, reals, flags, offsets, 64, 0, base[0], sums)
    moments.fill_runs(reals, flags, offsets, rows)
    moments.sum_moments(0, reals, reals, flags, none, none, no_reals, no_flags)
    index = (reals, reals, flags, blocks, base, sums, rows, rows)
    moments.look_up_moments(0, *index, none, none, no_reals, no_flags)
    moments.correlate_segments(reals, flags, reals, flags, none, none, none, none, no_reals, no_flags)
    scans.scan_moments(0, o.LESS, 0.0, *index, False, none, none, none, none, none)
    scans.scan_steps(0, o.LESS, 0.0, reals, flags, False, none, none, none, none, none)
    trends.squeeze_rows(flags, offsets, rows, rows.copy(), rows.copy())
    trends.compare_all(reals, flags, none, none, reals, no_reals, no_flags)
    work = [np.zeros(2, np.int64) for _ in range(4)]
    table = np.zeros((1, 1), np.float64), np.zeros((1, 1), np.bool_)
    trends.fill_trends(reals, rows, np.ones(1, np.int64), 2, work[0], work[1], work[2], work[3], *table)
    trends.count_steps(reals, rows, np.ones(1, np.int64), rows.copy())
    trends.score_outliers(reals, flags, offsets, 2, reals, flags.copy())
    trends.search_extremes(rows, flags, True, none, none, none)
    trends.find_extremes(rows, True, base, none, none, none)
