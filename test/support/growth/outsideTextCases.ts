// Growth cases: the comparison of calls with texts from outside.
import { VerbatimSearch } from '../../../src/base/patterns/verbatim.ts';
import { addressesIn, commandsIn } from '../../../src/core/consent/callTexts.ts';
import { type GrowthCases, over } from './cases.ts';
import { type Prepare } from './measure.ts';

const ignored = { part: () => undefined, name: () => undefined };
const NAMES = ['https://a.example/', 'aaa', '/a/a', 'a a a'];

/** The text is what came from outside, and what the call has. */
function compare(outside: string, own: string): void {
  new VerbatimSearch([own], NAMES).scan(outside, ignored);
}

const TEXTS = ['a', 'ab', 'a ', ' ', '\u200b', 'ﬁ', '漢', '\u{e0041}', 'https://a.example/ ', '/a', '....', '-'];

const linkTo = (number: number) => `https://host${number % 7}.example.com/${number}/install.sh?version=${number}`;

/** As many addresses in the call as in a two hundredth of the text, all of which begin alike. */
const compareAddresses: Prepare = (count) => {
  const call = Array.from({ length: count }, (_, number) => `${linkTo(number)}0`).join(' ');
  const page = Array.from({ length: count * 200 }, (_, line) => `See ${linkTo(line)} for more.\n`).join('');
  return () => {
    const names = addressesIn([call]).map(({ text }) => text);
    new VerbatimSearch([call], names).scan(page, ignored);
  };
};
const outsideTexts: GrowthCases = {
  'up to 100 addresses of a call in a text from outside': { prepare: compareAddresses, size: 25 },
  ...over('a long text from outside', (text) => compare(text, 'a'.repeat(100)), TEXTS, 100_000),
  ...over('a long call', (text) => compare('a'.repeat(100), text), TEXTS, 100_000),
  ...over('a call that is a text from outside', (text) => compare(text, text), TEXTS, 100_000),
  ...over('addressesIn', (text) => addressesIn([text]), ['a', 'a:', 'a://', 'a.', 'a@', 'a@a.', '=', 'a://a?=']),
  ...over('commandsIn', commandsIn, ['a', 'a ', ';', ' ', 'npx ', 'curl a.', '"', '-x ', 'a=']),
};

export const outsideTextCases = { outsideTexts };
