// Names for agents: two words such as amber-finch, or a name derived from that of a program.
import { randomInt } from 'node:crypto';
import { JsonRpcError } from '../../base/json/jsonRpc.ts';
import { HUB_NAME, isReservedName } from '../../protocol/hub.ts';
import { type HubCall } from '../../protocol/hubMethods.ts';

const FIRST =
  'amber ashen azure birch brass bright brisk bronze calm cedar clear cobalt copper coral crimson dapper deft eager early ember fleet frosty gentle gilded golden green hazel honest indigo ivory jade jolly keen lilac lively lucid maple mellow merry mild misty mossy nimble noble ochre olive opal pearl pine placid plum polar proud quick quiet rapid ready rosy royal ruby rustic sandy sage scarlet sharp silver sleek smoky snowy solar spry steady stoic sunny swift tawny teal tidy velvet violet vivid warm wise witty';
const SECOND =
  'adder alpaca badger beaver bison bittern bobcat bunting caribou cheetah cicada condor coot cormorant crane cricket curlew dingo dipper dolphin dove dunlin eagle egret eider falcon ferret finch fox gannet gecko gibbon goose grebe grouse gull hare harrier hawk heron hornet ibex ibis jackal jay kestrel kite kiwi koala lark lemur linnet lynx magpie mallard marlin marmot marten martin merlin mink moose newt ocelot oriole osprey otter ouzel owl panda petrel pika pipit plover puffin quail rail raven robin rook sable seal shrew shrike siskin skua snipe stoat stork swan swift tapir teal tern thrush vole weasel whale wren';

const ATTEMPTS = 50;
const WANTED_ATTEMPTS = 5;

/** A random name of two words; a later attempt adds a number. */
function inventName(attempt: number): string {
  const name = `${pick(FIRST)}-${pick(SECOND)}`;
  return attempt < ATTEMPTS / 2 ? name : `${name}-${randomInt(2, 1000)}`;
}

function pick(words: string): string {
  const all = words.split(' ');
  return all[randomInt(all.length)] ?? '';
}

/** Registers an agent under a name that was never registered. Tries `wanted` first, then the same with a number. */
export async function claimNewName(call: HubCall, wanted: string | undefined): Promise<string> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const name = wanted !== undefined && attempt < WANTED_ATTEMPTS ? numbered(wanted, attempt) : inventName(attempt);
    // The hub handles requests one after the other, so only one of two requests for the same name registers it.
    if ((await register(call, name)) === 'registered') return name;
  }
  throw new Error('no name is free on the hub');
}

function numbered(name: string, attempt: number): string {
  return attempt === 0 ? name : `${name.slice(0, 30)}-${attempt + 1}`;
}

/** The wanted name unless a connected agent has it; then the same with a number. */
export async function claimIdleName(call: HubCall, wanted: string): Promise<string> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const name = attempt === 1 ? wanted : `${wanted.slice(0, 29)}-${attempt}`;
    if ((await register(call, name)) !== undefined) return name;
  }
  throw new Error(`the name ${wanted} is in use on the hub`);
}

/** Undefined: a connected agent uses the name, or it is a role. */
async function register(call: HubCall, name: string): Promise<'registered' | 'updated' | undefined> {
  try {
    return (await call('agent.register', { name })).status;
  } catch (error) {
    if (error instanceof JsonRpcError) return undefined;
    throw error;
  }
}

/** Converts a program's name to a valid agent name; undefined if that is not possible. */
export function toAgentName(text: string): string | undefined {
  const name = text
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 32);
  return HUB_NAME.test(name) && !isReservedName(name) ? name : undefined;
}
