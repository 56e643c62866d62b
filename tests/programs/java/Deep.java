// SPDX-License-Identifier: Apache-2.0
/** Deep DEPTH: computes for ever below so many calls of one method. */
public final class Deep {
  static volatile long sink;

  static void leaf() {
    while (true) {
      for (int i = 0; i < 100000; i++) {
        sink += i;
      }
    }
  }

  // Compiled on its way down: first called until it is hot.
  static int down(int depth, boolean stay) {
    if (depth == 0) {
      if (stay) {
        leaf();
      }
      return 0;
    }
    return 1 + down(depth - 1, stay);
  }

  public static void main(String[] args) {
    int depth = Integer.parseInt(args[0]);
    for (int i = 0; i < 20000; i++) {
      sink += down(depth, false);
    }
    down(depth, true);
  }
}
