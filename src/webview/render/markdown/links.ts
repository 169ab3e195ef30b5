// Classifies links in answers: web address, mail address, file of the workspace, or not allowed.

export type LinkTarget =
  | { readonly type: 'external'; readonly url: string }
  | { readonly type: 'file'; readonly path: string; readonly line?: number; readonly column?: number }
  | { readonly type: 'none' };

const NONE: LinkTarget = { type: 'none' };
const EXTERNAL = new Set(['http:', 'https:', 'mailto:']);
const PATH_LIMIT = 5000;

export function linkTarget(href: string): LinkTarget {
  const address = href.trim();
  // Browsers drop control characters inside an address, which could hide a forbidden scheme.
  if (address === '' || hasControl(address)) return NONE;
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(address)?.[0].toLowerCase();
  const drive = scheme?.length === 2;
  if (scheme !== undefined && !drive && !isPathWithLine(address)) {
    if (!EXTERNAL.has(scheme) || !URL.canParse(address)) return NONE;
    return { type: 'external', url: address };
  }
  if (/^(?:#|\?|[\\/]{2})/.test(address)) return NONE;
  return fileTarget(address);
}

/** `main.ts:12` looks like an address with a scheme, but is a path. */
function isPathWithLine(address: string): boolean {
  return /^[\w.-]*\.\w+:\d+(?::\d+)?$/.test(address);
}

function fileTarget(address: string): LinkTarget {
  const hash = address.indexOf('#');
  const anchor = hash !== -1 && address.indexOf('#', hash + 1) === -1 ? address.slice(hash) : '';
  const place = hash === -1 ? /:(\d+)(?::(\d+))?$/.exec(address) : /^#L(\d+)(?:C(\d+))?/.exec(anchor);
  const path = decode(hash === -1 ? address.slice(0, place?.index) : address.slice(0, hash));
  if (path === '' || path.length > PATH_LIMIT || hasControl(path)) return NONE;
  const line = Number(place?.[1] ?? 0);
  const column = Number(place?.[2] ?? 0);
  if (line < 1 || !Number.isSafeInteger(line)) return { type: 'file', path };
  return { type: 'file', path, line, ...(column > 0 && Number.isSafeInteger(column) && { column }) };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function hasControl(text: string): boolean {
  return /[\u0000-\u001f\u007f-\u009f]/.test(text);
}
