// Finds the encoding of a file from its open document, the settings or its bytes. It must reproduce the bytes exactly.
import * as vscode from 'vscode';
import { decodeAs, decodeBytes, type Encoding, encodeText, hasNul } from '../../base/encodings.ts';
import { haveSameBytes } from '../../node/files/pinnedChanges.ts';
import { platform } from '../../node/platform/platform.ts';
import { anySetting } from '../configuration.ts';

const OURS: ReadonlySet<string> = new Set<Encoding>(['utf8', 'utf8bom', 'utf16le', 'utf16be', 'windows1252']);

export interface DecodedFile {
  readonly text: string;
  /** VS Code's name of the encoding. */
  readonly encoding: string;
}

/** Undefined if it is not text in any encoding that reproduces these bytes. */
export async function decodeFile(uri: vscode.Uri, bytes: Uint8Array): Promise<DecodedFile | undefined> {
  const plain = decodeBytes(bytes);
  // A byte-order mark is unambiguous.
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

/** The bytes that a save would write. */
export async function bytesOf(document: vscode.TextDocument): Promise<Uint8Array> {
  const { encoding } = document;
  const text = document.getText();
  return (isOurs(encoding) ? encodeText(text, encoding) : undefined) ?? vscode.workspace.encode(text, { encoding });
}

/** The open document under any of these names, preferably one with unsaved changes. */
export function documentOf(...uris: readonly vscode.Uri[]): vscode.TextDocument | undefined {
  const names = new Set(uris.map(documentKey));
  const open = vscode.workspace.textDocuments.filter((document) => names.has(documentKey(document.uri)));
  return open.find((document) => document.isDirty) ?? open[0];
}

/** On a case-insensitive disk VS Code treats both spellings as one document, and keeps the first. */
function documentKey(uri: vscode.Uri): string {
  const ignoresCase = uri.scheme === 'file' && platform.disk.ignoresCase;
  return ignoresCase ? uri.toString().toLowerCase() : uri.toString();
}

export function configuredEncoding(uri: vscode.Uri): string {
  const encoding = anySetting('files.encoding', uri);
  return typeof encoding === 'string' ? encoding : 'utf8';
}

async function decodeIn(encoding: string, bytes: Uint8Array): Promise<string | undefined> {
  // There is no byte-order mark here, and VS Code would add one when it saves UTF-16.
  if (hasNul(bytes) || encoding === 'utf16le' || encoding === 'utf16be') return undefined;
  if (encoding === 'utf8' || encoding === 'utf8bom') return decodeAs('utf8', bytes)?.text;
  const text = await vscode.workspace.decode(bytes, { encoding });
  const again = await vscode.workspace.encode(text, { encoding });
  return haveSameBytes(again, bytes) ? text : undefined;
}

async function encodeIn(encoding: string, text: string): Promise<Uint8Array | undefined> {
  if (isOurs(encoding)) return encodeText(text, encoding);
  const bytes = await vscode.workspace.encode(text, { encoding });
  return (await vscode.workspace.decode(bytes, { encoding })) === text ? bytes : undefined;
}

function isOurs(encoding: string): encoding is Encoding {
  return OURS.has(encoding);
}
