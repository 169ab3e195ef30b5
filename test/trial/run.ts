// `npm run trial -- --base-url U --model M`: tests how a real model reacts to notifications in each format. Key:
// EARSHOT_API_KEY.
import { parseArgs } from 'node:util';
import { createChatModel } from '../../src/models/chat/chatModel.ts';
import { UserError } from '../host/console/errors.mjs';
import { runToExit } from '../host/processes/lifetime.mjs';
import { printTrial, runTrial } from './trial.ts';

await runToExit(trial);

async function trial(): Promise<number> {
  const { baseUrl, model, verbose } = readArguments();
  const apiKey = process.env['EARSHOT_API_KEY'] ?? process.env['OPENAI_API_KEY'];
  const played = await runTrial(
    createChatModel({ baseUrl, model, apiKey: async () => apiKey }),
    new AbortController().signal,
    ({ format, situation, verdict, answer }) => {
      process.stdout.write(`${verdict.padEnd(11)}${format.padEnd(16)}${situation}\n`);
      if (verbose || verdict === 'failed') process.stdout.write(`${answer.replace(/^/gm, '    ')}\n`);
    },
  );
  process.stdout.write(`\n${model} at ${baseUrl}\n${printTrial(played)}\n`);
  process.stdout.write('Answers are judged by patterns, not by meaning: --verbose shows them.\n');
  return played.every(({ verdict }) => verdict === 'failed') ? 1 : 0;
}

function readArguments(): { baseUrl: string; model: string; verbose: boolean } {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string' },
      model: { type: 'string' },
      verbose: { type: 'boolean', default: false },
    },
  });
  const { 'base-url': baseUrl, model, verbose } = values;
  if (baseUrl === undefined || !URL.canParse(baseUrl) || model === undefined) {
    throw new UserError(
      'An endpoint and a model are needed.',
      'For example: npm run trial -- --base-url http://127.0.0.1:11434/v1 --model qwen3',
    );
  }
  return { baseUrl, model, verbose };
}
