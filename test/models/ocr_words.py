#!/usr/bin/env python3
"""How many characters ppocr4_rec reads right before and after quantization, on words rendered with installed fonts.

  ocr_words.py [FOLDER] [-- OPTION of optc ...]    (default: build/models/words, --precision=int8 calibrated)

Words, fonts, sizes and colours are seeded. 96 words calibrate, 300 others are judged: `golden.npz` has the images, and what the
float model says is right (`--metric=top1`); characters are compared with the words themselves. Options behind `--` replace those of
the quantized model. Exit code 3: the guardrail rejects the model; what it says is printed."""

import os
import subprocess
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tools"))
import bank

MODEL = os.path.join(bank.BUILD, "models", "ppocr4_rec.onnx")
FONTS = "/usr/share/fonts/truetype/dejavu"
HEIGHT, WIDTH, CALIBRATE, GOLDEN, BATCH = 48, 320, 96, 300, 12
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def words(count, seed):
    rng = np.random.RandomState(seed)
    return ["".join(rng.choice(list(LETTERS), rng.randint(4, 12))) for _ in range(count)]


def render(text, fonts, rng):
    """The image of a word as the model takes it: [3, 48, 320] from -1 to 1, zeros behind its end."""
    font = ImageFont.truetype(fonts[rng.randint(len(fonts))], int(rng.randint(26, 36)))
    paper, ink = int(rng.randint(190, 256)), int(rng.randint(0, 90))
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("L", (right - left + 16, bottom - top + 16), paper)
    ImageDraw.Draw(image).text((8 - left, 8 - top), text, fill=ink, font=font)
    width = min(WIDTH, max(1, round(image.width * HEIGHT / image.height)))
    pixels = np.asarray(image.resize((width, HEIGHT), Image.BILINEAR), np.float32) + rng.normal(0, 4, (HEIGHT, width))
    out = np.zeros((3, HEIGHT, WIDTH), np.float32)
    out[:, :, :width] = pixels / 127.5 - 1
    return out


def images(texts, seed):
    rng = np.random.RandomState(seed)
    fonts = sorted(os.path.join(FONTS, f) for f in os.listdir(FONTS) if f.endswith(".ttf") and "Math" not in f)
    return np.stack([render(t, fonts, rng) for t in texts])


def decode(scores, characters):
    """The best path of a row of scores: repeats and blanks go."""
    best = scores.argmax(-1)
    keep = best[(best != 0) & (best != np.concatenate([[-1], best[:-1]]))]
    return "".join(characters[i] for i in keep)


def distance(a, b):
    """Insertions, deletions and replacements between two texts."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def characters_of(model):
    import onnx

    table = {p.key: p.value for p in onnx.load(model, load_external_data=False).metadata_props}
    return [""] + table["character"].splitlines() + [" "]


def read(artifact, folder, golden, texts, characters):
    """The share of characters that are read right."""
    wrong = 0
    for at in range(0, len(texts), BATCH):
        np.save(os.path.join(folder, "x.npy"), golden[at : at + BATCH])
        out = os.path.join(folder, "out")
        p = subprocess.run(
            [os.path.join(bank.BIN, "optc-run"), artifact, "--input", f"x={folder}/x.npy", "--output-dir", out],
            capture_output=True,
            text=True,
        )
        if p.returncode:
            sys.exit(f"ocr_words: optc-run ended with {p.returncode}: {p.stderr.strip()}")
        (name,) = os.listdir(out)
        rows = zip(np.load(os.path.join(out, name)), texts[at : at + BATCH], strict=True)
        wrong += sum(distance(decode(scores, characters), text) for scores, text in rows)
    return 1 - wrong / sum(map(len, texts))


def main():
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args, extra = sys.argv[1:at], sys.argv[at + 1 :]
    folder = os.path.abspath(args[0] if args else os.path.join(bank.BUILD, "models", "words"))
    os.makedirs(folder, exist_ok=True)
    texts = words(GOLDEN, 2)
    golden = images(texts, 3)
    np.savez(os.path.join(folder, "golden.npz"), x=golden)
    np.savez(os.path.join(folder, "samples.npz"), x=images(words(CALIBRATE, 0), 1))
    default = [f"--calibrate={folder}/samples.npz", f"--golden={folder}/golden.npz", "--metric=top1", "--max-drop=1%"]
    options = extra or ["--precision=int8", *default]
    characters = characters_of(MODEL)
    for name, flags in (("float", []), ("quantized", options)):
        artifact = os.path.join(folder, name + ".so")
        p = subprocess.run(
            [os.path.join(bank.BIN, "optc"), MODEL, "-O3", "--shape", f"x={BATCH}x3x{HEIGHT}x{WIDTH}", "-o", artifact, *flags],
            capture_output=True,
            text=True,
        )
        print(p.stderr.strip())
        if p.returncode:
            return p.returncode
        share = read(artifact, folder, golden, texts, characters)
        print(f"{name}: {share:.2%} of {sum(map(len, texts))} characters, {os.path.getsize(artifact)} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
