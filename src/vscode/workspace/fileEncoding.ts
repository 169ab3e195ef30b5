// Decides in which encoding a file is: as the editor has it open or is set to, else as its bytes say. What would not come out again byte for byte does not count.
import * as vscode from 'vscode';
import { decodeAs, decodeBytes, type Encoding, encodeText, hasNul } from '../../base/encodings.ts';

const OURS: ReadonlySet<string> = new Set<Encoding>(['utf8', 'utf8bom', 'utf16le', 'utf16be', 'windows1252']);

export interface DecodedFile {
  readonly text: string;
  /** By VS Code's name. */
  readonly encoding: string;
}

/** Undefined for what is not text, in no encoding that would give back these very bytes. */
export async function decodeFile(uri: vscode.Uri, bytes: Uint8Array): Promise<DecodedFile | undefined> {
  const plain = decodeBytes(bytes);
  // A byte-order mark leaves no doubt.
  if (plain !== undefined && plain.encoding !== 'utf8' && plain.encoding !== 'windows1252') return plain;
  for (const encoding of [documentOf(uri)?.encoding, configuredEncoding(uri)]) {
    const text = encoding === undefined ? undefined : await decodeIn(encoding, bytes);
    if (encoding !== undefined && text !== undefined) return { text, encoding };
  }
  return plain;
}

/** Undefined if the encoding lacks a character of the text. */
export async function encodeFile(uri: vscode.Uri, text: string, like?: Uint8Array): Promise<Uint8Array | undefined> {
  const encoding = like === undefined ? configuredEncoding(uri) : (await decodeFile(uri, like))?.encoding;
  return encodeIn(encoding ?? 'utf8', text);
}

/** What a save would write. */
export async function bytesOf(document: vscode.TextDocument): Promise<Uint8Array> {
  const { encoding } = document;
  const text = document.getText();
  return (isOurs(encoding) ? encodeText(text, encoding) : undefined) ?? vscode.workspace.encode(text, { encoding });
}

/** Of several names of one file, the one with unsaved changes. */
export function documentOf(...uris: readonly vscode.Uri[]): vscode.TextDocument | undefined {
  const names = new Set(uris.map(nameOf));
  const open = vscode.workspace.textDocuments.filter((document) => names.has(nameOf(document.uri)));
  return open.find((document) => document.isDirty) ?? open[0];
}

/** Where the disk takes two spellings for one name, so does the editor, which keeps the one it met first. */
function nameOf(uri: vscode.Uri): string {
  const ignoresCase = uri.scheme === 'file' && (process.platform === 'darwin' || process.platform === 'win32');
  return ignoresCase ? uri.toString().toLowerCase() : uri.toString();
}

export function configuredEncoding(uri: vscode.Uri): string {
  return vscode.workspace.getConfiguration('files', uri).get<string>('encoding') ?? 'utf8';
}

async function decodeIn(encoding: string, bytes: Uint8Array): Promise<string | undefined> {
  // No mark is there, or it would have been found; without one the editor would write UTF-16 back with one.
  if (hasNul(bytes) || encoding === 'utf16le' || encoding === 'utf16be') return undefined;
  if (encoding === 'utf8' || encoding === 'utf8bom') return decodeAs('utf8', bytes)?.text;
  const text = await vscode.workspace.decode(bytes, { encoding });
  const again = await vscode.workspace.encode(text, { encoding });
  return isSame(again, bytes) ? text : undefined;
}

async function encodeIn(encoding: string, text: string): Promise<Uint8Array | undefined> {
  if (isOurs(encoding)) return encodeText(text, encoding);
  const bytes = await vscode.workspace.encode(text, { encoding });
  return (await vscode.workspace.decode(bytes, { encoding })) === text ? bytes : undefined;
}

function isOurs(encoding: string): encoding is Encoding {
  return OURS.has(encoding);
}

export function isSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0;
}
