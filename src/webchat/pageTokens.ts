// The tokens of pages. A page gets one for the code of its link, once; the token is valid until the window closes, also
// after a restart of the web chat.
import { keyedHash } from '../node/scripts/keyedHash.ts';
import { hashedTexts, LINK_VALID_MILLISECONDS } from '../protocol/webChat.ts';
import { isSameSecret } from './access.ts';

export interface PageTokensDeps {
  readonly key: string;
  now(): number;
  /** The code of a link was used again: somebody else has it, so the page that got its token loses it. */
  usedTwice(link: string): void;
}

export class PageTokens {
  readonly #deps: PageTokensDeps;
  /** Codes of before this start may have been used. */
  readonly #since: number;
  readonly #used = new Set<string>();
  readonly #revoked = new Set<string>();

  constructor(deps: PageTokensDeps) {
    this.#deps = deps;
    this.#since = deps.now();
  }

  /** The token for the code; undefined if the code is wrong, too old or used. */
  exchange(code: string): string | undefined {
    const { key, now } = this.#deps;
    const [link = '', issued = '', hash = ''] = code.split('.');
    if (!isSameSecret(hash, keyedHash(key, hashedTexts.link(link, issued)))) return undefined;
    if (Number(issued) < this.#since || now() > Number(issued) + LINK_VALID_MILLISECONDS) return undefined;
    if (this.#used.has(link)) {
      this.#revoked.add(link);
      this.#deps.usedTwice(link);
      return undefined;
    }
    this.#used.add(link);
    return `${link}.${keyedHash(key, hashedTexts.page(link))}`;
  }

  /** The link of a valid token. */
  linkOf(token: string): string | undefined {
    const [link = '', hash = ''] = token.split('.');
    const isValid = isSameSecret(hash, keyedHash(this.#deps.key, hashedTexts.page(link)));
    return isValid && !this.#revoked.has(link) ? link : undefined;
  }
}
