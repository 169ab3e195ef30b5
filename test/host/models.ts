// Writes media/models.json: the facts about models that Earshot ships, reduced from the data of pi-ai (MIT). The package
// itself is not installed, because it depends on packages that the registry does not have; only its data is read.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EFFORTS, type Effort } from '../../src/protocol/settings.ts';
import { type FactsFile, type ModelFacts, type Price, type ProviderFacts } from '../../src/models/facts/factsFile.ts';
import { UserError } from './console/errors.mjs';
import { runToExit } from './processes/lifetime.mjs';

const SOURCE = '@earendil-works/pi-ai@1.5.2';
/** Of the tarball; another content is not read. */
const SHA512 = '2tWPSnV3qzfiDIY3aWluBag3vC++Vs+VsXt/UquSU5onPMohPih72FUhIhaqmDdMYubOgB3Byl9uF4Vk40JLvQ==';
const LICENSE =
  'MIT License. Copyright (c) 2025 Mario Zechner. Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.';

/** The makers of models, and hosts that serve models of others without an aggregated list of their own. */
const PROVIDERS = [
  'anthropic',
  'openai',
  'google',
  'xai',
  'meta',
  'deepseek',
  'mistral',
  'moonshotai',
  'moonshotai-cn',
  'kimi-coding',
  'zai',
  'minimax',
  'minimax-cn',
  'xiaomi',
  'ant-ling',
  'groq',
  'cerebras',
  'together',
  'fireworks',
  'huggingface',
  'nvidia',
  'baseten',
] as const;

/** One entry of the package's data, as far as it is read. */
interface SourceModel {
  readonly id: string;
  readonly name: string;
  readonly type?: string;
  readonly baseUrl: string;
  readonly reasoning?: boolean;
  readonly thinkingLevelMap?: Readonly<Record<string, string | null>>;
  readonly input: readonly string[];
  readonly cost: SourceCost & { readonly tiers?: readonly (SourceCost & { readonly inputTokensAbove: number })[] };
  readonly contextWindow: number;
  readonly maxTokens: number;
}

interface SourceCost {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

await runToExit(main);

async function main(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-models-'));
  try {
    run('npm', ['pack', SOURCE, '--silent', '--pack-destination', folder]);
    const tarball = join(folder, 'earendil-works-pi-ai-1.5.2.tgz');
    const hash = createHash('sha512')
      .update(await readFile(tarball))
      .digest('base64');
    if (hash !== SHA512) throw new UserError(`${SOURCE} has another content.`, 'Check it, then change SHA512.');
    run('tar', ['xzf', tarball, '-C', folder]);
    const providers: Record<string, ProviderFacts> = {};
    for (const name of PROVIDERS) {
      const path = join(folder, 'package/dist/providers/data', `${name}.json`);
      const apis = JSON.parse(await readFile(path, 'utf8')) as Record<string, Record<string, SourceModel>>;
      const models = Object.values(apis)
        .flatMap((api) => Object.values(api))
        .filter(({ type = 'chat' }) => type === 'chat');
      providers[name] = {
        host: new URL(models[0]?.baseUrl ?? '').host,
        models: Object.fromEntries(models.map((model) => [model.id, factsOf(model)] as const).sort()),
      };
    }
    await writeFile('media/models.json', print({ source: SOURCE, license: LICENSE, providers }));
    return 0;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function factsOf({ name, input, cost, contextWindow, maxTokens, ...model }: SourceModel): ModelFacts {
  const efforts = effortsOf(model);
  const { tiers = [] } = cost;
  return {
    name,
    window: contextWindow,
    output: maxTokens,
    // Plans with a fixed price are listed with prices of 0.
    ...(cost.input > 0 && { price: priceOf(cost) }),
    ...(cost.input > 0 &&
      tiers.length > 0 && {
        tiers: tiers.map(({ inputTokensAbove, ...tier }) => ({ above: inputTokensAbove, price: priceOf(tier) })),
      }),
    ...(input.includes('image') && { images: true as const }),
    ...(efforts.length > 1 && { efforts }),
  };
}

/** Input, output, cache read, cache write. A price of 0 for the cache means that it has none of its own. */
function priceOf({ input, output, cacheRead, cacheWrite }: SourceCost): Price {
  return [input, output, cacheRead || input, cacheWrite || input];
}

/** As `getSupportedThinkingLevels` of the package: null excludes a level; `xhigh` and `max` must be named. */
function effortsOf({
  reasoning,
  thinkingLevelMap: map = {},
}: Pick<SourceModel, 'reasoning' | 'thinkingLevelMap'>): Effort[] {
  if (reasoning !== true) return [];
  const sent = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].flatMap((level) => {
    const mapped = map[level];
    if (mapped === null || (mapped === undefined && !['low', 'medium', 'high'].includes(level))) return [];
    return mapped ?? level;
  });
  return EFFORTS.filter((effort) => sent.includes(effort));
}

/** One line for each model, so that a difference can be read. */
function print({ source, license, providers }: FactsFile): string {
  const lines = Object.entries(providers).map(([name, { host, models }]) => {
    const listed = Object.entries(models).map(([id, facts]) => `${JSON.stringify(id)}:${JSON.stringify(facts)}`);
    return `${JSON.stringify(name)}:{"host":${JSON.stringify(host)},"models":{\n${listed.join(',\n')}\n}}`;
  });
  const head = `"source":${JSON.stringify(source)},\n"license":${JSON.stringify(license)}`;
  return `{\n${head},\n"providers":{\n${lines.join(',\n')}\n}\n}\n`;
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0)
    throw new UserError(`${command} failed: ${stderr.slice(0, 500)}`, 'Check the connection to the registry.');
}
