// SPDX-License-Identifier: Apache-2.0
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Paths NAME SECONDS: a program in which every path ends in a method of its own.
 *
 * <p>So the leaf of a stack tells the whole of it. Writes the methods of this class below main by
 * leaf as JSON, and runs each path in turn in a thread of that name, with what the JVM puts between.
 */
public final class Paths {
  static volatile long sink;

  // A leaf: some microseconds of work that neither compiler can fold away.
  static long spin(long seed) {
    long x = seed | 1;
    for (int i = 0; i < 3000; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  static void leafPlain() {
    sink += spin(sink);
  }

  static void second() {
    leafPlain();
  }

  static void plain() {
    second();
  }

  static void leafRecursion() {
    sink += spin(sink);
  }

  static void recurse(int depth) {
    if (depth == 0) {
      leafRecursion();
    } else {
      recurse(depth - 1);
    }
  }

  static void recursion() {
    recurse(7);
  }

  interface Shape {
    void area();
  }

  static final class Round implements Shape {
    public void area() {
      leafRound();
    }
  }

  static final class Square implements Shape {
    public void area() {
      leafSquare();
    }
  }

  static final class Flat implements Shape {
    public void area() {
      leafFlat();
    }
  }

  static void leafRound() {
    sink += spin(sink);
  }

  static void leafSquare() {
    sink += spin(sink);
  }

  static void leafFlat() {
    sink += spin(sink);
  }

  static final Shape[] SHAPES = {new Round(), new Square(), new Flat()};

  static void through(Shape shape) {
    shape.area();
  }

  static void shapes() {
    for (Shape shape : SHAPES) {
      through(shape);
    }
  }

  static void leafCompare() {
    sink += spin(sink);
  }

  static final Comparator<Integer> COMPARATOR =
      new Comparator<Integer>() {
        public int compare(Integer a, Integer b) {
          leafCompare();
          return a.compareTo(b);
        }
      };

  static void sort() {
    Integer[] values = {5, 3, 9, 1};
    Arrays.sort(values, COMPARATOR);
  }

  static void leafLambda() {
    sink += spin(sink);
  }

  static void lambda() {
    Runnable run = () -> leafLambda();
    run.run();
  }

  static void leafStream() {
    sink += spin(sink);
  }

  static void eachOfStream(int unused) {
    leafStream();
  }

  static void stream() {
    IntStream.range(0, 4).forEach(Paths::eachOfStream);
  }

  static void leafReflection() {
    sink += spin(sink);
  }

  public static void reflected() {
    leafReflection();
  }

  static Method reflected;

  static void reflection() {
    try {
      reflected.invoke(null);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }

  static void leafHandle() {
    sink += spin(sink);
  }

  static void handled() {
    leafHandle();
  }

  static MethodHandle handle;

  static void handle() {
    try {
      handle.invokeExact();
    } catch (Throwable error) {
      throw new IllegalStateException(error);
    }
  }

  static void leafLocked() {
    sink += spin(sink);
  }

  static synchronized void locked() {
    leafLocked();
  }

  static void lock() {
    locked();
  }

  static void leafFinally() {
    sink += spin(sink);
  }

  static void thrower() {
    throw new UnsupportedOperationException();
  }

  static void catching() {
    try {
      thrower();
    } catch (UnsupportedOperationException expected) {
      leafFinally();
    }
  }

  // A loop that is compiled while it runs (on-stack replacement), and a call in it.
  static void leafLoop() {
    sink += spin(sink);
  }

  static void loop() {
    for (int i = 0; i < 20; i++) {
      leafLoop();
    }
  }

  static void leafNative() {
    sink += spin(sink);
  }

  @SuppressWarnings("removal")
  static void privileged() {
    java.security.AccessController.doPrivileged(
        (java.security.PrivilegedAction<Object>)
            () -> {
              leafNative();
              return null;
            });
  }

  static final Map<String, String[]> PATHS = new LinkedHashMap<>();

  static void path(String leaf, String... methods) {
    PATHS.put(leaf, methods);
  }

  // The compiler adds compare(Object, Object), which calls the one that stands above.
  static void paths() {
    path("leafPlain", "plain", "second");
    path("leafRecursion", "recursion", "recurse*8");
    path("leafRound", "shapes", "through", "Round.area");
    path("leafSquare", "shapes", "through", "Square.area");
    path("leafFlat", "shapes", "through", "Flat.area");
    path("leafCompare", "sort", "1.compare*2");
    path("leafLambda", "lambda", "lambda$lambda$");
    path("leafStream", "stream", "eachOfStream");
    path("leafReflection", "reflection", "reflected");
    path("leafHandle", "handle", "handled");
    path("leafLocked", "lock", "locked");
    path("leafFinally", "catching");
    path("leafLoop", "loop");
    path("leafNative", "privileged", "lambda$privileged$");
  }

  static void turn() {
    plain();
    recursion();
    shapes();
    sort();
    lambda();
    stream();
    reflection();
    handle();
    lock();
    catching();
    loop();
    privileged();
  }

  // The first turn may have to compile all of it.
  static void work(double seconds) {
    turn();
    long end = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < end) {
      turn();
    }
  }

  public static void main(String[] args) throws Exception {
    reflected = Paths.class.getMethod("reflected");
    handle =
        MethodHandles.lookup()
            .findStatic(Paths.class, "handled", MethodType.methodType(void.class));
    paths();
    StringBuilder text = new StringBuilder("{");
    for (Map.Entry<String, String[]> one : PATHS.entrySet()) {
      text.append(text.length() > 1 ? ", " : "").append('"').append(one.getKey()).append("\": [");
      for (int i = 0; i < one.getValue().length; i++) {
        text.append(i > 0 ? ", " : "").append('"').append(one.getValue()[i]).append('"');
      }
      text.append(']');
    }
    System.out.println(text.append('}'));
    System.out.flush();
    double seconds = Double.parseDouble(args[1]);
    Thread thread = new Thread(() -> work(seconds), args[0]);
    thread.start();
    thread.join();
  }
}
