// Validates names of handles, and makes a free name from a text.

const HANDLE_NAME = /^[A-Za-z0-9][\w.-]{0,39}$/;

/** Why this cannot be the name of a handle; undefined: it can. */
export function whyNoHandleName(name: string): string | undefined {
  if (HANDLE_NAME.test(name)) return undefined;
  return `“${name}” is no name for a handle: use up to 40 letters, digits, dots, hyphens and underscores.`;
}

/** `npm run build` → `npm-run-build`, or `npm-run-build-2`. */
export function freeHandleName(text: string, isTaken: (name: string) => boolean): string {
  const words = text
    .slice(0, 200)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  const base = words.slice(0, 24).replace(/-$/, '') || 'command';
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!isTaken(name)) return name;
  }
}
