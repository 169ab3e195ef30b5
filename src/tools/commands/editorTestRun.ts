// Reads what the editor says about a run of tests: a line with counts, and an element for each failure. Pure.

export interface EditorTestRun {
  readonly passed: number;
  readonly failed: number;
  /** What is said about each failure, by name. */
  readonly failures: ReadonlyMap<string, string>;
}

const MOST_FAILURES = 10_000;
const LONGEST_NAME = 300;
const SUMMARY = /^<summary passed=(\d{1,9}) failed=(\d{1,9}) \/>$/;
const BEGIN = '<testFailure name=';
const END = '</testFailure>';
/** Both values are JSON, and the path is that of the test's groups. */
const ATTRIBUTES = /^("(?:[^"\\]|\\.)*") path=("(?:[^"\\]|\\.)*")>$/;

/** Undefined: no test was run, which the text says in words. */
export function readEditorTestRun(text: string): EditorTestRun | undefined {
  const lines = text.split('\n');
  const [, passed, failed] = SUMMARY.exec(lines[0] ?? '') ?? [];
  if (passed === undefined || failed === undefined) return undefined;
  const failures = new Map<string, string>();
  let name: string | undefined;
  let said: string[] = [];
  for (const line of lines.slice(1)) {
    if (name === undefined) {
      name = line.startsWith(BEGIN) && failures.size < MOST_FAILURES ? nameIn(line.slice(BEGIN.length)) : undefined;
      said = [];
    } else if (line === END) {
      // Tests with the same name count as one.
      failures.set(name, [failures.get(name) ?? '', ...said].filter((one) => one !== '').join('\n'));
      name = undefined;
    } else if (!isTag(line)) said.push(withoutTags(line));
  }
  return { passed: Number(passed), failed: Number(failed), failures };
}

function nameIn(attributes: string): string {
  const [, name = '""', path = '""'] = ATTRIBUTES.exec(attributes) ?? [];
  const parts = [path, name].map((one) => String(JSON.parse(one)));
  return parts
    .filter((part) => part !== '')
    .join(' › ')
    .slice(0, LONGEST_NAME);
}

function isTag(line: string): boolean {
  return /^<\/?(?:message|actualOutput)>$/.test(line) || line === '</expectedOutput>';
}

/** `at src/a.ts:3:5` for the frames and the place. */
function withoutTags(line: string): string {
  if (line === '<expectedOutput>') return 'Expected, then actual output:';
  const place = /^<(?:stackFrame|location) path="(.{1,2000})" line="(\d+)" col="(\d+)" \/>$/.exec(line);
  return place === null ? line : `at ${place[1]}:${place[2]}:${place[3]}`;
}
