// Decides the Guide's words: what it is, what a step brought, and what it was told meanwhile.
import { type Step } from './guideRequest.ts';

const LONGEST_EXCERPT = 1500;

export function introduce(): string {
  return [
    'I am the **Guide**: built in, offline, and no AI. I follow a few rules, with the same tools and the same ears as a model.',
    'Try one of these, or several joined by “then”:',
    ['- `list the files`', '- `read README.md`', '- `run npm test`'].join('\n'),
    'Change a file I have read while a command runs, and I will tell you what I heard.',
  ].join('\n\n');
}

/** `block` is what rode the result, as the model gets it. */
export function reportStep(step: Step | undefined, result: string, block: string | undefined): string {
  return [step === undefined ? '' : describeResult(step, result), describeBlock(block)]
    .filter((part) => part !== '')
    .join('\n\n');
}

function describeResult(step: Step, result: string): string {
  const lines = result === '' ? 0 : result.split('\n').length;
  switch (step.tool) {
    case 'read_file':
      return `That is \`${step.arguments['path'] ?? ''}\`, ${lines} ${lines === 1 ? 'line' : 'lines'}. If it changes, I will be told.`;
    case 'list_files':
      return `The result has ${lines} ${lines === 1 ? 'line' : 'lines'}:\n\n${fence(result)}`;
    case 'run_command':
      return `This is what came of \`${step.arguments['command'] ?? ''}\`:\n\n${fence(result)}`;
  }
}

const ENTRY = /<notification source="([^"]*)" name="([^"]*)"[^>]*><!\[CDATA\[\n([\s\S]*?)\n\]\]><\/notification>/g;

function describeBlock(block: string | undefined): string {
  if (block === undefined) return '';
  const told = [...block.matchAll(ENTRY)].map(([, source = '', name = '', body = '']) =>
    describeEntry(`${source}.${name}`, body),
  );
  const more = block.match(/<more>([\s\S]*?)<\/more>/)?.[1];
  return ['**Meanwhile I was told:**', ...told, ...(more === undefined ? [] : [`And ${more}`])].join('\n\n');
}

function describeEntry(kind: string, body: string): string {
  const [first = '', ...rest] = body.replaceAll(']]]]><![CDATA[>', ']]>').split('\n');
  return rest.length === 0 ? `- \`${kind}\`: ${first}` : `- \`${kind}\`: ${first}\n\n${fence(rest.join('\n'), 'diff')}`;
}

/** A fence longer than any in the text. */
function fence(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const marks = '`'.repeat(longest + 1);
  const cut = text.length > LONGEST_EXCERPT ? `${text.slice(0, LONGEST_EXCERPT)}\n…` : text;
  return `${marks}${language}\n${cut}\n${marks}`;
}
