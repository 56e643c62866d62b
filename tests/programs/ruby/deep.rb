# SPDX-License-Identifier: Apache-2.0
# deep.rb DEPTH: computes for ever below so many calls of one method.
def leaf
  x = 0
  i = 0
  while true
    x = (x + i) & 0xffff
    i += 1
  end
end

def down(depth)
  depth.positive? ? 1 + down(depth - 1) : leaf
end

down(ARGV[0].to_i)
