def tensorboard_shows_the_run(checks, run): raise NotImplementedError
