// A problem of the MCP configuration is reported once, no matter how often the configuration is read.
import { expect, test } from 'vitest';
import { readConfigText } from '../../../../src/mcp/config/configuration.ts';
import { ReportedProblems } from '../../../../src/vscode/mcp/reportedProblems.ts';

const source = { label: '.mcp.json', workspace: true, folder: undefined };
const problemsOf = (text: string) => readConfigText(text, source).problems;

test('a file that is read several times with the same problem is reported once', () => {
  const reported = new ReportedProblems();
  const broken = JSON.stringify({ mcpServers: { a: { command: 3 } } });
  expect(reported.take(problemsOf(broken))).toHaveLength(1);
  expect(reported.take(problemsOf(broken))).toEqual([]);
  const worse = JSON.stringify({ mcpServers: { a: { command: 3 }, b: {} } });
  expect(reported.take(problemsOf(worse))).toEqual([expect.stringContaining('b')]);
  expect(reported.take(problemsOf(worse))).toEqual([]);
});

test('a problem that was fixed and occurs again is reported again', () => {
  const reported = new ReportedProblems();
  expect(reported.take(['x', 'x'])).toEqual(['x']);
  expect(reported.take([])).toEqual([]);
  expect(reported.take(['x'])).toEqual(['x']);
});
