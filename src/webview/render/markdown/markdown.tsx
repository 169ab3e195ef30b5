// Renders Markdown tokens. HTML written by a model is shown as text.
import type { MarkedToken, Token, Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { decodeEntities } from '../../../base/entities.ts';
import { memo } from '../../memo.ts';
import { strings } from '../../strings/strings.ts';
import { useActions } from '../actions.ts';
import { Icon } from '../icons.tsx';
import { linkPath, linkPaths } from '../pathLinks.tsx';
import { CodeBlock, OpenCodeBlock } from './code.tsx';
import { linkTarget } from './links.ts';
import type { Block, MarkdownView } from './markdownStream.ts';

/** Renders only the groups that changed, and in them only the blocks that changed. */
export function Markdown({ view }: { readonly view: MarkdownView }) {
  return (
    <div class="markdown">
      {view.blocks.chunks.map((blocks, index) => (
        <BlockGroup key={index} blocks={blocks} />
      ))}
      {view.rest === '' ? null : <p class="plain">{view.rest}</p>}
    </div>
  );
}

/** A separate element, so that the browser can skip the layout of groups that are out of sight. */
const BlockGroup = memo(function BlockGroup({ blocks }: { readonly blocks: readonly Block[] }) {
  return (
    <div class="blocks">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
});

const BlockView = memo(
  function BlockView({ block }: { readonly block: Block }) {
    if (block.open !== undefined && block.token.type === 'code') {
      return <OpenCodeBlock text={block.open} language={languageOf(block.token)} />;
    }
    return <>{renderToken(block.token)}</>;
  },
  ({ block: before }, { block: after }) =>
    before.token.raw === after.token.raw &&
    before.token.type === after.token.type &&
    before.open === after.open &&
    before.reading === after.reading,
);

function renderTokens(tokens: readonly Token[] | undefined): ComponentChildren {
  return (tokens ?? []).map((token) => renderToken(token as MarkedToken));
}

export function renderToken(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'paragraph':
      return <p dir="auto">{renderTokens(token.tokens)}</p>;
    case 'heading':
      return <Heading depth={token.depth}>{renderTokens(token.tokens)}</Heading>;
    case 'code':
      return <CodeBlock text={token.text} language={languageOf(token)} />;
    case 'blockquote':
      return <blockquote dir="auto">{renderTokens(token.tokens)}</blockquote>;
    case 'list':
      return renderList(token);
    case 'list_item':
      return (
        <li dir="auto" class={token.task ? 'task' : ''}>
          {renderTokens(token.tokens)}
        </li>
      );
    case 'checkbox':
      return <Checkbox checked={token.checked} />;
    case 'table':
      return renderTable(token);
    case 'hr':
      return <hr />;
    case 'html':
      return token.block ? <p class="plain">{token.text}</p> : token.text;
    case 'text':
      return token.tokens === undefined ? linkPaths(decodeEntities(token.text)) : renderTokens(token.tokens);
    case 'escape':
      return token.text;
    case 'strong':
      return <strong>{renderTokens(token.tokens)}</strong>;
    case 'em':
      return <em>{renderTokens(token.tokens)}</em>;
    case 'del':
      return <del>{renderTokens(token.tokens)}</del>;
    case 'codespan':
      return <code>{linkPath(token.text)}</code>;
    case 'br':
      return <br />;
    case 'link':
      return (
        <Link href={token.href} title={token.title ?? ''}>
          {renderTokens(token.tokens)}
        </Link>
      );
    case 'image':
      // Images are not fetched: the request would reveal that the answer was read.
      return (
        <Link href={token.href} title={token.title ?? ''}>
          {token.text === '' ? token.href : decodeEntities(token.text)}
        </Link>
      );
    case 'space':
    case 'def':
      return null;
    default:
      return (token as Token).raw;
  }
}

function languageOf(token: Tokens.Code): string {
  return /^[\w+#.-]+/.exec(token.lang ?? '')?.[0].toLowerCase() ?? '';
}

function renderList(list: Tokens.List): ComponentChildren {
  const items = list.items.map((item) => renderToken(item));
  if (!list.ordered) return <ul dir="auto">{items}</ul>;
  return (
    <ol dir="auto" {...(typeof list.start === 'number' && list.start !== 1 ? { start: list.start } : {})}>
      {items}
    </ol>
  );
}

function renderTable(table: Tokens.Table): ComponentChildren {
  const alignment = (cell: Tokens.TableCell) => (cell.align === null ? '' : `align-${cell.align}`);
  return (
    <div class="table" tabIndex={0} role="group" aria-label={strings.table}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell) => (
              <th scope="col" class={alignment(cell)}>
                {renderTokens(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td class={alignment(cell)}>{renderTokens(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The page has its own first-level heading; headings of answers begin below it. */
function Heading({ depth, children }: { readonly depth: number; readonly children: ComponentChildren }) {
  const name = `heading heading-${depth}`;
  if (depth <= 2)
    return (
      <h2 class={name} dir="auto">
        {children}
      </h2>
    );
  if (depth === 3)
    return (
      <h3 class={name} dir="auto">
        {children}
      </h3>
    );
  return (
    <h4 class={name} dir="auto">
      {children}
    </h4>
  );
}

function Checkbox({ checked }: { readonly checked: boolean }) {
  return (
    <span class="checkbox" role="img" aria-label={checked ? strings.taskDone : strings.taskOpen}>
      {checked && <Icon name="check" />}
    </span>
  );
}

interface LinkProperties {
  readonly href: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

function Link({ href, title, children }: LinkProperties) {
  const actions = useActions();
  const target = linkTarget(decodeEntities(href));
  switch (target.type) {
    case 'external':
      return (
        <a
          href={target.url}
          title={title || target.url}
          rel="noreferrer"
          // In a browser the page must stay open; VS Code itself opens links externally.
          {...(!actions.offers('open_file') && { target: '_blank' })}
        >
          {children}
        </a>
      );
    case 'file': {
      if (!actions.offers('open_file')) return <span title={title || target.path}>{children}</span>;
      const { type: _type, ...place } = target;
      const open = () => actions.post({ ...place, type: 'open_file' });
      return (
        <button type="button" class="link" title={title || place.path} onClick={open}>
          {children}
        </button>
      );
    }
    case 'none':
      return (
        <span class="dead-link" title={href}>
          {children}
        </span>
      );
  }
}
