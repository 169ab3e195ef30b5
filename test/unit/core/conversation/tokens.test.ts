// The single-pass token estimate equals tokenx for any text.
import fc from 'fast-check';
import { estimateTokenCount } from 'tokenx';
import { expect, test } from 'vitest';
import { estimateTokens } from '../../../../src/core/conversation/tokens.ts';
import { NASTY } from '../../../support/notify/arbitraryNotifications.ts';
import { runs } from '../../../support/runs.ts';

const piece = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    ...NASTY,
    ' ',
    '\n',
    '\n\n',
    '\n  ',
    '\t',
    '. \n',
    '−1',
    'naïve',
    'Größe',
    '12345',
    'lowercase',
    'camelCaseWord',
  ),
  fc.constantFrom('漢字。', 'かな', '한국어', '\u00a0', '\u3000', 'é', 'Ω', '…', '’s', '❤️'),
);

test('for any text the estimate equals that of tokenx', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = pieces.join('');
      expect(estimateTokens(text)).toBe(estimateTokenCount(text));
    }),
    { numRuns: runs(1500, 5000) },
  );
});
