// The tool find_tools: the model searches the tools of MCP servers that its first request did not have.
import { countOf } from '../../base/text.ts';
import * as z from 'zod';
import { type Tool, type ToolOutcome } from '../../core/ports/ports.ts';
import { sizeOf } from '../../core/prompt/offered.ts';
import { parseArguments } from '../../protocol/describeIssue.ts';
import { type ToolDescription } from '../../protocol/tool.ts';

const MOST_FOUND = 10;
/** Limit of the tools that one search finds, which are part of later requests. One is always found. */
const MOST_FOUND_CHARACTERS = 40_000;
const MOST_LINE = 200;

const FIND_TOOLS = 'find_tools';

const argumentsSchema = z.strictObject({
  query: z.string().trim().min(1).max(200).describe('Words of the name or the description, or the name of a server'),
});

export interface SearchedTool {
  readonly server: string;
  readonly description: ToolDescription;
}

/** `all`: the tools that can be found at present. */
export function createFindTools(all: () => readonly SearchedTool[]): Tool<z.infer<typeof argumentsSchema>> {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(argumentsSchema);
  return {
    description: {
      name: FIND_TOOLS,
      // Constant: requests with another description could not be read from an endpoint's cache.
      description: `Finds tools of MCP servers by words of their names and descriptions, or by the name of a server. What it finds can be called from then on. Shows the ${MOST_FOUND} best matches.`,
      parameters,
    },
    effect: 'read',
    emits: [],
    traits: {
      findsTools: true,
      resultsFrom: 'server',
      guide: 'If you miss a tool (a tracker, a database, a browser), search with find_tools: servers may have it.',
    },
    parse: parseArguments(argumentsSchema),
    run: async ({ query }) => search(query, all()),
  };
}

function search(query: string, all: readonly SearchedTool[]): ToolOutcome {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const ranked = all
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const found = firstThatFit(ranked.slice(0, MOST_FOUND).map(({ tool }) => tool.description));
  if (found.length === 0) {
    return {
      content: `None of ${countOf(all.length, 'tool')} matches “${query}”. Try other words, or the name of a server.`,
      isError: false,
    };
  }
  const lines = found.map(({ name, description }) => `${name}: ${shortDescription(description)}`);
  const rest = ranked.length - found.length;
  const more = rest > 0 ? [`(${rest} more match: search with more words.)`] : [];
  return {
    content: ['You can call these from now on:', ...lines, ...more].join('\n'),
    isError: false,
    tools: found.map(({ name }) => name),
  };
}

function firstThatFit(descriptions: readonly ToolDescription[]): readonly ToolDescription[] {
  let left = MOST_FOUND_CHARACTERS;
  return descriptions.filter((description, index) => {
    left -= sizeOf(description);
    return left >= 0 || index === 0;
  });
}

/** A word in the name counts more than one in the description. */
function scoreOf({ server, description: { name, description } }: SearchedTool, words: readonly string[]): number {
  const [inName, inText] = [`${server} ${name}`.toLowerCase(), description.toLowerCase()];
  return words.reduce((sum, word) => sum + (inName.includes(word) ? 3 : 0) + (inText.includes(word) ? 1 : 0), 0);
}

function shortDescription(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > MOST_LINE ? `${line.slice(0, MOST_LINE)}…` : line;
}
