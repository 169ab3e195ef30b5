// Shows the arguments of a tool call in full, with invisible characters made visible.
import type { FileDiff } from '../../protocol/page/diffView.ts';
import { argumentDiff } from '../argumentDiff.ts';
import { strings } from '../strings/strings.ts';
import { commandOf } from '../toolTitle.ts';
import { Diffs } from './diff/diff.tsx';
import { linkPath } from './pathLinks.tsx';
import { visibleText } from './visibleText.ts';

const LONGEST_ON_ONE_LINE = 60;

interface Properties {
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export function ToolArguments({ name, values }: Properties) {
  const diff = argumentDiff(name, values);
  if (diff !== undefined) return <Changes files={diff} />;
  const command = commandOf(name, values);
  const rest = Object.entries(values).filter(([key]) => command === undefined || key !== 'command');
  const written = [command ?? '', ...rest.flatMap(([key, value]) => [key, printArgument(value)])];
  return (
    <div class="arguments">
      {command !== undefined && (
        <pre class="command" tabIndex={0} role="group" aria-label={strings.command}>
          {visibleText(command)}
        </pre>
      )}
      {rest.length > 0 && (
        <dl aria-label={strings.arguments}>
          {rest.map(([key, value]) => (
            <div class={isLong(value) ? 'argument long' : 'argument'} key={key}>
              <dt>{visibleText(key)}</dt>
              <dd>{linkPath(visibleText(printArgument(value)))}</dd>
            </div>
          ))}
        </dl>
      )}
      {command === undefined && rest.length === 0 && <p class="quiet">{strings.noArguments}</p>}
      {written.some((text) => visibleText(text) !== text) && <p class="quiet">{strings.hiddenCharacters}</p>}
    </div>
  );
}

/** Changes that need approval: shows all lines, and makes invisible characters visible. */
export function Changes({ files }: { readonly files: readonly FileDiff[] }) {
  const written = files.flatMap(({ path, from, hunks }) => [path, from ?? '', ...hunks.flatMap(({ lines }) => lines)]);
  return (
    <div class="arguments">
      <Diffs files={files} whole />
      {written.some((text) => visibleText(text) !== text) && <p class="quiet">{strings.hiddenCharacters}</p>}
    </div>
  );
}

function printArgument(value: unknown): string {
  if (typeof value === 'string') return value;
  const short = JSON.stringify(value);
  return short.length > LONGEST_ON_ONE_LINE ? JSON.stringify(value, null, 2) : short;
}

function isLong(value: unknown): boolean {
  const text = printArgument(value);
  return text.length > LONGEST_ON_ONE_LINE || text.includes('\n');
}
