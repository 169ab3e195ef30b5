// Growth cases: functions that parse or print command lines, configuration and names, with adversarial texts.
import { parseJsonc } from '../../../src/base/json/jsonc.ts';
import { printCommandLine } from '../../../src/base/printPath.ts';
import { maskSecrets } from '../../../src/base/secrets/maskSecrets.ts';
import { isAllowed, parseCommand, pathsIn } from '../../../src/core/consent/commandLine.ts';
import { contentText } from '../../../src/mcp/tools/contentText.ts';
import { nameTool } from '../../../src/mcp/tools/toolNames.ts';
import { describeEvents, describeMessage } from '../../../src/producers/mcpEvents/eventReports.ts';
import { printedByLastCommand } from '../../../src/vscode/sources/lastCommand.ts';
import { type GrowthCases, over } from './cases.ts';

const issues = {
  ...{ name: 's/issue', id: 'i', server: 's', identity: 's', event: 'issue', mode: 'poll' as const },
  ...{ cursor: null, paused: false, count: 0, at: 0 },
};

/** The parsers of command lines, measured with the syntax of bash only. */
const parse: (line: string, syntax: 'bash') => readonly string[] | undefined = parseCommand;
const named: (line: string, syntax: 'bash') => unknown = pathsIn;
const allowed: (words: readonly string[], entries: readonly string[], syntax: 'bash') => boolean = isAllowed;
const LINES = [
  (size: number) => `a${' '.repeat(size)}b`,
  ' ',
  'a ',
  '"',
  "'",
  '-',
  '-a=',
  '-/',
  '\\',
  '$(',
  '(',
  '|',
  '; ',
  '# a\n',
  'a=',
  '~',
  '<<a\n',
  '`',
  '${',
];

const commandLines: GrowthCases = {
  ...over('parseCommand', (line) => parse(line, 'bash'), LINES),
  ...over('pathsIn', (line) => named(line, 'bash'), LINES),
  ...over('isAllowed', (line) => allowed(['ls'], [line, `${line}*`], 'bash'), LINES),
  ...over('parseJsonc', (text) => tryParse(text), ['/', '//', '/*', '// a\n', ',', ', ', '"', '\\', '", ', '[,']),
  ...over(
    'contentText',
    (text) =>
      contentText([
        { type: 'text', text },
        { type: 'resource_link', uri: text },
      ]),
    [' ', 'a ', '\n'],
  ),
  ...over('nameTool', (text) => nameTool('s', text, new Set()), ['_', 'é', 'a-']),
  ...over('maskSecrets', maskSecrets, [
    ...[
      'token',
      'token=',
      'pass=/',
      'pass: ',
      'token="',
      "token='",
      'a://',
      'a://b@',
      'a:',
      '-u ',
      'curl -u a',
      '--token ',
      'Bearer ',
    ],
    ...[
      '-----BEGIN ',
      '-----BEGIN PRIVATE KEY-----',
      'eyJ',
      'sk-',
      '\\"',
      'token\\"',
      '"',
      ' ',
      'a',
      'token ',
      '\n',
      'auth:1',
      '=',
      'pwd==',
      'Cookie: ',
    ],
    ...[
      'secret:\n',
      'secret: |\n  a\n',
      '<token>',
      'sk-1',
      'a.',
      'sl.-',
      'net user a ',
      'htpasswd -b a ',
      'set -x TOKEN ',
      '-----END PRIVATE KEY-----',
      'Private-Lines: 1\n',
      'echo a | ',
      'chpasswd | ',
      'chpasswd <<A\n',
      'sudo ',
      'A_TOKEN a ',
      'PASSWORD ',
      '\u200b',
      '\u001b[',
      '%41',
      '?key=',
      'login a password ',
      `${'A'.repeat(64)}\n`,
    ],
  ]),
  ...over('printCommandLine', printCommandLine, [
    (size: number) => `a${' '.repeat(size)}b`,
    ' ',
    '\n',
    ' \n',
    '`',
    'a',
  ]),
  ...over('describeEvents', (id) => describeEvents(issues, [{ id, at: id, data: { id } }], false), [
    '\n',
    'a\u2028',
    '"',
    '\\',
  ]),
  ...over('describeMessage of an MCP server', (text) => describeMessage('s', text), ['\n', '\r', 'a\u0085']),
  ...over('printedByLastCommand', (said) => printedByLastCommand(said, 'a', 1), [
    'It exited with code: ',
    '\n',
    'It has the following output:\n',
  ]),
};

export const commandLineCases = { commandLines };

function tryParse(text: string): unknown {
  try {
    return parseJsonc(text);
  } catch {
    return undefined;
  }
}
