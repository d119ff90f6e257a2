"""AdaNet's side of a search: trains as search.py says, and prints seconds of training, accuracy and where it ended as JSON.

Usage: adanet_side.py DATA MODEL_DIR TICKS ITERATIONS BATCH_SIZE WIDTH RATE LAMBDA
"""
import json
import os
import sys
import time
import types
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")

import tensorflow as tf
from tensorflow.python.checkpoint import graph_view

# AdaNet 0.9.0 imports it from where it was before TensorFlow 2.8.
sys.modules["tensorflow.python.training.tracking"] = types.SimpleNamespace(graph_view=graph_view)

import adanet
from adanet.examples import simple_dnn

PIXELS, CLASSES = 784, 10


def examples(data, part):
    """One after the other, read from the files and kept in memory. As constants they would stand in each graph that AdaNet writes."""
    def records(kind, size, header):
        return tf.data.FixedLengthRecordDataset(f"{data}/{part}-{kind}-ubyte.gz", size, header_bytes=header, compression_type="GZIP")

    return tf.data.Dataset.zip((records("images-idx3", PIXELS, 16), records("labels-idx1", 1, 8))).cache()


def decoded(images, labels):
    pixels = tf.cast(tf.io.decode_raw(images, tf.uint8), tf.float32) / 255
    return {"pixels": pixels}, tf.cast(tf.io.decode_raw(labels, tf.uint8), tf.int32)


def main():
    data, model_dir = sys.argv[1:3]
    ticks, iterations, batch_size, width = map(int, sys.argv[3:7])
    rate, adanet_lambda = map(float, sys.argv[7:])
    tf.compat.v1.logging.set_verbosity("FATAL")
    estimator = adanet.Estimator(
        head=tf.estimator.MultiClassHead(CLASSES),
        subnetwork_generator=simple_dnn.Generator(
            [tf.feature_column.numeric_column("pixels", (PIXELS,))], tf.compat.v1.train.AdamOptimizer(rate),
            layer_size=width, initial_num_layers=1, learn_mixture_weights=True, seed=1),
        max_iteration_steps=ticks, max_iterations=iterations, adanet_lambda=adanet_lambda, model_dir=model_dir)

    def training():
        batches = examples(data, "train").shuffle(10000, seed=1).repeat().batch(batch_size, drop_remainder=True)
        return batches.map(decoded, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

    start, spent = time.perf_counter(), time.process_time()
    estimator.train(training, max_steps=ticks * iterations)
    seconds, spent = time.perf_counter() - start, time.process_time() - spent
    metrics = estimator.evaluate(lambda: examples(data, "t10k").batch(500).map(decoded))
    print(json.dumps({"seconds": seconds, "processor_seconds": spent, "global_step": int(metrics["global_step"]),
                      "accuracy": float(metrics["accuracy"]), "iteration": int(metrics["iteration"])}))


if __name__ == "__main__":
    main()
