"""TensorFlow's side of a session: MonitoredSession around one step of the network of session_side.cpp.

Usage: session_side.py STEPS

As that program does, makes STEPS runs in each kind of session, prints the losses, and answers each line "KIND SECONDS" with steps a second.
"""
import os
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")

import numpy as np
import tensorflow as tf

from side import serve

EXAMPLES, WIDTH, UNITS, CLASSES, BATCH_SIZE, RATE = 4096, 10, 16, 2, 32, 0.01

v1 = tf.compat.v1


class Quiet(v1.train.SessionRunHook):
    """Wants nothing."""


def kernel(rows, columns):
    i = np.arange(rows * columns)
    return ((i * 7 % 13 - 6) / 13).astype(np.float32).reshape(rows, columns)


def session(hooks=()):
    """A function that makes so many runs of one step, and returns the loss of the last."""
    with tf.Graph().as_default():
        x = (np.arange(EXAMPLES * WIDTH) * 7 % 97).astype(np.float32).reshape(EXAMPLES, WIDTH) / 97
        data = tf.data.Dataset.from_tensor_slices((x, (x[:, 0] > 0.5).astype(np.int32)))
        features, labels = v1.data.make_one_shot_iterator(data.batch(BATCH_SIZE).repeat().prefetch(tf.data.AUTOTUNE)).get_next()
        hidden = tf.nn.relu(tf.matmul(features, v1.get_variable("dense/kernel", initializer=kernel(WIDTH, UNITS)))
                            + v1.get_variable("dense/bias", initializer=np.zeros(UNITS, np.float32)))
        logits = (tf.matmul(hidden, v1.get_variable("dense_1/kernel", initializer=kernel(UNITS, CLASSES)))
                  + v1.get_variable("dense_1/bias", initializer=np.zeros(CLASSES, np.float32)))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        train = v1.train.GradientDescentOptimizer(RATE).minimize(loss, global_step=v1.train.get_or_create_global_step())
        one_thread = v1.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
        creator = v1.train.ChiefSessionCreator(config=one_thread)
        monitored = v1.train.MonitoredSession(session_creator=creator, hooks=list(hooks))

    def run(steps):
        for _ in range(steps - 1):
            monitored.run(train)
        return monitored.run([train, loss])[1]

    return run


def main():
    kinds = {"run": session(), "hook": session([Quiet()])}
    serve(int(sys.argv[1]), {kind: (run, 1) for kind, run in kinds.items()})


if __name__ == "__main__":
    main()
