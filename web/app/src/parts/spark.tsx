// SPDX-License-Identifier: Apache-2.0
export function Spark({ values }: { values: number[] }) {
  if (values.length < 2) return null;
  const most = Math.max(...values, 1e-12);
  const points = values.map((value, i) => `${((i / (values.length - 1)) * 100).toFixed(2)} ${(23 - (value / most) * 21).toFixed(2)}`);
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <path class="area" d={`M0 24L${points.join("L")}L100 24Z`} />
      <path class="line" d={`M${points.join("L")}`} />
    </svg>
  );
}
