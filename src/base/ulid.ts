// Creates ULIDs that are monotonic per generator, even within one millisecond.

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RANDOM_DIGITS = 16;
const LAST = RANDOM_DIGITS - 1;

export const ULID_PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** `random` fills an array with random bytes. */
export function createUlids(now: () => number, random: (bytes: Uint8Array) => void): () => string {
  let lastTime = -1;
  let digits: number[] = [];
  /** All but the last digit, since usually only that one changes. */
  let head = '';
  return () => {
    const time = now();
    if (time > lastTime) {
      lastTime = time;
      const bytes = new Uint8Array(RANDOM_DIGITS);
      random(bytes);
      // The first digit starts low, so that counting up within a millisecond has room.
      digits = Array.from(bytes, (byte, index) => (index === 0 ? byte % 16 : byte % 32));
      head = printTime(time) + printDigits(digits);
    } else if (digits[LAST] === 31) {
      let place = LAST;
      while (place >= 0 && digits[place] === 31) digits[place--] = 0;
      if (place >= 0) digits[place] = (digits[place] ?? 0) + 1;
      head = printTime(lastTime) + printDigits(digits);
    } else {
      digits[LAST] = (digits[LAST] ?? 0) + 1;
    }
    return head + (ALPHABET[digits[LAST] ?? 0] ?? '');
  };
}

function printTime(time: number): string {
  let rest = time;
  let text = '';
  for (let index = 0; index < 10; index++) {
    text = (ALPHABET[rest % 32] ?? '0') + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function printDigits(digits: readonly number[]): string {
  return digits
    .slice(0, LAST)
    .map((digit) => ALPHABET[digit])
    .join('');
}
