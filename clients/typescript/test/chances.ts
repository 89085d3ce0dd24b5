/** Choices of a seed, the same in each run. */

/** A linear congruential generator, whose high bits choose. */
export function chances(seed: number): { below(limit: number): number; pick<T>(values: readonly T[]): T } {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return { below, pick: (values) => values[below(values.length)]! };
}
