const from = 2000;
const percent = 10;

/** What is taken off a sum, in cents. */
export function discount(sum: number): number {
  return sum < from ? 0 : Math.round((sum * percent) / 100);
}
