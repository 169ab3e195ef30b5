// Lists files that are never touched without approval: files with secrets, and files that can make programs run.
import { withoutTrailing } from '../../base/text.ts';

/** Changing these can make an editor or git run something; reading them is harmless. */
const TRIGGERS = [/^\.vscode$/i, /^\.husky$/i, /^\.idea$/i, /^\.devcontainer$/i];
const TRIGGER_FILES = [/\.code-workspace$/i, /^\.gitattributes$/i, /^\.earshotignore$/i];

const SECRETS = [
  /^\.git$/i,
  /^\.ssh$/i,
  /^\.gnupg$/i,
  /^\.aws$/i,
  /^\.env($|\.)/i,
  /^\.envrc$/i,
  /^\.npmrc$/i,
  /^\.netrc$/i,
  /^\.pypirc$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)/i,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/i,
];
/** Samples are made to be shared, although their names look like secrets. */
const SAMPLES = /^\.env\.(example|sample|template|dist|defaults?)$/i;

/** Why access to this path (relative to the workspace) needs approval; undefined if it does not. */
export function whyProtected(path: string, reads: boolean): string | undefined {
  const parts = path.split(/[\\/]+/).map(bareName);
  const secret = parts.find((part) => !SAMPLES.test(part) && SECRETS.some((pattern) => pattern.test(part)));
  if (secret !== undefined) return `${path} is protected: ${secret} may hold secrets`;
  if (reads) return undefined;
  const last = parts.at(-1) ?? '';
  const trigger =
    parts.find((part) => TRIGGERS.some((pattern) => pattern.test(part))) ??
    (TRIGGER_FILES.some((pattern) => pattern.test(last)) ? last : undefined);
  return trigger === undefined ? undefined : `${path} is protected: ${trigger} can make programs run`;
}

/** Windows treats `.git.`, `.git ` and `.git::$DATA` as `.git`. */
function bareName(part: string): string {
  return withoutTrailing(part.split(':', 1)[0] ?? '', '. ');
}
