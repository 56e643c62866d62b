// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;

/** Virtual SECONDS: virtual threads that compute on their way back from deep calls, in which they slept. */
public final class Virtual {
  static volatile long sink;

  static void leafVirtual() {
    long x = sink | 1;
    for (int i = 0; i < 200000; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    sink += x;
  }

  // Its frames go to the heap while it sleeps, and come back a few at a time.
  static void down(int depth) {
    if (depth == 0) {
      LockSupport.parkNanos(1000000);
    } else {
      down(depth - 1);
    }
    leafVirtual();
  }

  static void work(long end) {
    while (System.nanoTime() < end) {
      down(30);
    }
  }

  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
    Thread[] threads = new Thread[4];
    for (int i = 0; i < threads.length; i++) {
      threads[i] = Thread.ofVirtual().name("virtual-" + i).start(() -> work(end));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }
}
