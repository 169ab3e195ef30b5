// Distinguishes network addresses of this machine and its local network, which need approval, from others. Pure.

/** Names that mean such addresses without a DNS lookup. */
const LOCAL_NAMES = /(^|\.)(localhost|local|internal|lan|home|corp|intranet|home\.arpa)$/;

/** Takes the host of a URL, as `URL.hostname` returns it: a name, an IPv4 address, or an IPv6 address in brackets. */
export function isLocalHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, '');
  const address = host.replace(/^\[|\]$/g, '');
  if (isAddress(address)) return isLocalAddress(address);
  // A name without a dot belongs to the local network.
  return LOCAL_NAMES.test(host) || !host.includes('.');
}

function isAddress(text: string): boolean {
  return /^\d+\.\d+\.\d+\.\d+$/.test(text) || text.includes(':');
}

/** True for every address that is not a public internet address. */
export function isLocalAddress(address: string): boolean {
  const plain = address.toLowerCase().split('%')[0] ?? '';
  const v4 = /^\d+\.\d+\.\d+\.\d+$/.test(plain) ? plain : undefined;
  return v4 === undefined ? isLocalV6(plain) : isLocalV4(v4.split('.').map(Number));
}

/** `reserved`: link-local, where clouds serve credentials, and everything that is not the address of one host. */
export type AddressScope = 'public' | 'private' | 'loopback' | 'reserved';

export function addressScope(address: string): AddressScope {
  if (!isLocalAddress(address)) return 'public';
  const plain = address.toLowerCase().split('%')[0] ?? '';
  const groups = plain.includes(':') ? expand(plain) : undefined;
  if (groups?.every((group, index) => group === (index === 7 ? 1 : 0)) === true) return 'loopback';
  const first = groups?.[0] ?? 0;
  if (first >= 0xfc00 && first < 0xfe00) return 'private';
  const isMapped = groups?.[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  const [a = 0, b = 0] = groups === undefined ? plain.split('.').map(Number) : isMapped ? lastV4(groups) : [];
  if (a === 127) return 'loopback';
  const isPrivate =
    a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168) || (a === 100 && b >= 64 && b < 128);
  return isPrivate ? 'private' : 'reserved';
}

function isLocalV4([a = 0, b = 0, c = 0]: readonly number[]): boolean {
  return (
    a === 0 ||
    a === 10 ||
    a === 127 ||
    a >= 224 ||
    (a === 100 && b >= 64 && b < 128) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && b === 168) ||
    (a === 192 && b === 0 && (c === 0 || c === 2)) ||
    (a === 198 && (b === 18 || b === 19)) ||
    (a === 198 && b === 51 && c === 100) ||
    (a === 203 && b === 0 && c === 113)
  );
}

function isLocalV6(address: string): boolean {
  const groups = expand(address);
  if (groups === undefined) return true;
  const [first = 0, second = 0] = groups;
  const v4 = lastV4(groups);
  const zeros = groups.slice(0, 5).every((group) => group === 0);
  // The forms in which an IPv6 address can contain an IPv4 address.
  if (zeros && (groups[5] === 0xffff || groups[5] === 0)) return isLocalV4(v4);
  if (first === 0x64 && second === 0xff9b) return isLocalV4(v4);
  if (first === 0x2002) return isLocalV4([second >> 8, second & 255, (groups[2] ?? 0) >> 8, 0]);
  // Public addresses begin with 2 or 3. Of these, 2001:db8 is for documentation and 2001:0 contains other addresses.
  return first < 0x2000 || first > 0x3fff || (first === 0x2001 && (second === 0xdb8 || second === 0));
}

/** The IPv4 address at the end of an IPv6 address. */
function lastV4(groups: readonly number[]): number[] {
  return groups.slice(6).flatMap((group) => [group >> 8, group & 255]);
}

function expand(address: string): number[] | undefined {
  const text = address.replace(/(?<!\d)(\d{1,9})\.(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/, (_, a, b, c, d) => {
    const hex = (high: unknown, low: unknown) => (Number(high) * 256 + Number(low)).toString(16);
    return `${hex(a, b)}:${hex(c, d)}`;
  });
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [left, right] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - (left?.length ?? 0) - (right?.length ?? 0);
  const all =
    right === undefined
      ? (left ?? [])
      : [...(left ?? []), ...Array.from({ length: Math.max(0, missing) }, () => '0'), ...right];
  const groups = all.map((group) => (/^[0-9a-f]{1,4}$/.test(group) ? Number.parseInt(group, 16) : Number.NaN));
  return groups.length === 8 && groups.every((group) => !Number.isNaN(group)) ? groups : undefined;
}
