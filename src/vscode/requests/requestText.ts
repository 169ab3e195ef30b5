// The text of the read-only document that shows one request: facts as comments, then the body, a message a fold.
import * as vscode from 'vscode';
import { defined } from '../../base/json/defined.ts';
import { maskKey } from '../../core/conversation/key.ts';
import { notificationHistory } from '../../core/conversation/projections/history.ts';
import { estimateTokens } from '../../core/conversation/tokens.ts';
import { printRanges } from '../../core/files/seenPart.ts';
import { type RebuiltRequest, type SentCall } from '../../core/knowledge/sentRequests.ts';
import { type PrintedAgain } from '../../models/sentRequest.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { printKind } from '../../protocol/notification.ts';
import { failureMessage } from '../failureMessage.ts';

export interface ShownRequest {
  readonly number: number;
  readonly total: number;
  readonly sent: SentCall;
  /** The request before it; undefined: there is none. */
  readonly before: SentCall | undefined;
  readonly events: readonly LogEvent[];
  readonly rebuilt: RebuiltRequest;
  readonly printed: PrintedAgain;
}

/** The lines without the body, for people. */
export function describeRequest({ number, total, sent, printed, rebuilt }: ShownRequest): readonly string[] {
  const { call } = sent;
  const isLogged = call.sent !== undefined;
  const exact = printed.isExact
    ? vscode.l10n.t('as it was sent: length and checksum are the same')
    : isLogged
      ? vscode.l10n.t('NOT exactly as it was sent: a part of the log or of its files is gone or has changed since')
      : vscode.l10n.t('NOT exactly as it was sent: the log does not say how it was printed');
  return [
    vscode.l10n.t('Request {0} of {1}', number, total),
    `${call.timestamp} · ${call.model} · ${describeOutcome(call)}`,
    ...(isLogged ? [`POST ${printed.url}`] : []),
    vscode.l10n.t('{0} bytes, {1}', Buffer.byteLength(printed.body).toLocaleString(), exact),
    ...(call.usage === undefined
      ? []
      : [vscode.l10n.t('{0} tokens in, {1} tokens out', call.usage.input_tokens, call.usage.output_tokens)]),
    ...(rebuilt.missing.includes('prompt')
      ? [vscode.l10n.t('The system prompt and the tools are no longer stored.')]
      : []),
    ...(rebuilt.missing.includes('tools') ? [vscode.l10n.t('Descriptions of found tools are no longer stored.')] : []),
  ];
}

function describeOutcome({ outcome, failure }: SentCall['call']): string {
  const outcomes = {
    succeeded: vscode.l10n.t('succeeded'),
    failed: vscode.l10n.t('failed'),
    aborted: vscode.l10n.t('interrupted'),
  };
  if (failure === undefined) return outcomes[outcome];
  const { code, message, nextStep } = failure;
  const text = failureMessage({ code, message, ...defined({ nextStep }) });
  return `${outcomes[outcome]}: ${text.replace(/\s+/g, ' ')} (${code})`;
}

export function printRequest(shown: ShownRequest): string {
  const { state } = shown.rebuilt;
  const comments = [
    ...describeRequest(shown),
    vscode.l10n.t('The API key and the conversation’s key are masked. Formatted here; the bytes have no line breaks.'),
    '',
    ...describeNotifications(shown),
    '',
    vscode.l10n.t('Files as the model knew them:'),
    ...state.seen.known
      .filter(({ compacted }) => compacted !== true)
      .map(({ path, part, at }) => {
        const ranges =
          part === undefined ? vscode.l10n.t('all of it') : printRanges(part.ranges) || vscode.l10n.t('parts');
        return `  ${JSON.stringify(path).slice(1, -1)} · ${ranges} · ${at}`;
      }),
  ];
  const text = [...comments.map((line) => `// ${line}`.trimEnd()), printBody(shown.printed.body)].join('\n');
  return maskKey(text, state.turn.key);
}

/** What the carriers after the request before brought, with the receipts as they are now. */
function describeNotifications({ events, sent, before }: ShownRequest): readonly string[] {
  const carriers = new Set(
    events.flatMap(({ seq }) => (seq <= sent.through && seq > (before?.through ?? 0) ? [seq] : [])),
  );
  const records = notificationHistory(events).filter(({ carrier }) => carrier !== undefined && carriers.has(carrier));
  if (records.length === 0) return [vscode.l10n.t('No notifications were new in this request.')];
  return [
    vscode.l10n.t('Notifications that were new in this request:'),
    ...records.map(({ notification: { kind, subject, level, at }, state, receipt }) =>
      `  ${printKind(kind)} [${level}] ${JSON.stringify(subject ?? '').slice(1, -1)} · ${at} · ${state}, ${receipt}`.replace(
        /[\r\n\u2028\u2029]/g,
        ' ',
      ),
    ),
  ];
}

const LISTS: ReadonlySet<string> = new Set(['messages', 'input', 'tools', 'system']);

/** Valid JSON with comments: each element of a list after a line with its tokens. */
function printBody(body: string): string {
  const fields = Object.entries(JSON.parse(body) as Record<string, unknown>);
  const printed = fields.map(([name, value]) => {
    if (!LISTS.has(name) || !Array.isArray(value))
      return [tokens(name, value), `${JSON.stringify(name)}: ${pretty(value)}`];
    const elements = value.map((one, index) => {
      const what = [`${index + 1}`, ...labels(one)].join(' · ');
      return indented(`${tokens(what, one)}\n${pretty(one)}`);
    });
    return [tokens(name, value), `${JSON.stringify(name)}: [\n${elements.join(',\n')}\n]`];
  });
  return `{\n${printed.map((lines) => indented(lines.join('\n'))).join(',\n')}\n}\n`;
}

/** Separators of lines that are no line feed are escaped: the editor offers to remove them from what it opens. */
function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[\u2028\u2029]/g, (one) =>
    one === '\u2028' ? String.raw`\u2028` : String.raw`\u2029`,
  );
}

/** Only line feeds begin a line: a text may have other separators of lines. */
function indented(text: string): string {
  return `  ${text.replaceAll('\n', '\n  ')}`;
}

function tokens(what: string, value: unknown): string {
  return `// ${what} · ${vscode.l10n.t('≈ {0} tokens', estimateTokens(JSON.stringify(value)).toLocaleString())}`;
}

/** Its role or type, and its name. */
function labels(element: unknown): readonly string[] {
  if (typeof element !== 'object' || element === null) return [];
  const { role, type, name, function: called } = element as Record<string, unknown>;
  const named = name ?? (called as { name?: unknown } | undefined)?.name;
  return [role ?? type, named].filter((one) => typeof one === 'string').map((one) => one.replace(/\s+/g, ' '));
}
