#!/usr/bin/env python3
"""The handwritten digits of digits.npz: 1797 images of 8 x 8 pixels, split once and for all.

  data.py FOLDER                  writes the held-out fifth as FOLDER/images.npy and FOLDER/labels.npy
  data.py FOLDER --calibration    writes 200 of the other images, as FOLDER/images.npy

digits.npz holds `images` (uint8 [1797, 8, 8], 0 to 16) and `labels` (uint8 [1797]); README.md says where they are from."""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SPLIT_SEED = 0


def load():
    """The images as the model takes them, float32 [n, 1, 8, 8] from 0 to 1, and the labels, int64 [n]."""
    with np.load(os.path.join(HERE, "digits.npz")) as f:
        return f["images"][:, None].astype(np.float32) / 16, f["labels"].astype(np.int64)


def split():
    """(images, labels) for training, and (images, labels) of the fifth that is held out."""
    images, labels = load()
    # RandomState: NumPy promises that its streams never change.
    order = np.random.RandomState(SPLIT_SEED).permutation(len(images))
    held, rest = order[: len(images) // 5], order[len(images) // 5 :]
    return (images[rest], labels[rest]), (images[held], labels[held])


def write_golden(folder):
    """Writes the held-out fifth: a file per input of the model, and the labels."""
    os.makedirs(folder, exist_ok=True)
    _, (images, labels) = split()
    np.save(os.path.join(folder, "images.npy"), images)
    np.save(os.path.join(folder, "labels.npy"), labels)
    return labels


def write_calibration(folder, count=200):
    """Writes images to calibrate with. They are none of those by which the result is judged."""
    os.makedirs(folder, exist_ok=True)
    (images, _), _ = split()
    np.save(os.path.join(folder, "images.npy"), images[:count])
    return images[:count]


if __name__ == "__main__":
    args = sys.argv[1:]
    if args[1:] == ["--calibration"]:
        print(f"{len(write_calibration(args[0]))} images of the training set in {args[0]}")
    elif len(args) == 1 and not args[0].startswith("-"):
        print(f"{len(write_golden(args[0]))} held-out images in {args[0]}")
    else:
        sys.exit(__doc__)
