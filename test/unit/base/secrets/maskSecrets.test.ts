// What is masked in command lines and their output, and what must stay readable.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskSecrets } from '../../../../src/base/secrets/maskSecrets.ts';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk';
/** Joined at run time, so that no scanner reports a secret in this file. */
const AWS = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
const GITHUB = ['ghp', '0123456789abcdefghij'].join('_');
const SLACK = ['xoxb', '123456789012', 'abcdefghij'].join('-');
const OPENAI = ['sk', 'proj-0123456789abcdef'].join('-');

describe('masked', () => {
  test.each([
    ['PASS=hunter2 make', 'PASS=*** make'],
    ['export DB_PWD=hunter2', 'export DB_PWD=***'],
    ['set PASS=hunter2', 'set PASS=***'],
    ['$env:DB_PASSWORD = "hunter2"', '$env:DB_PASSWORD = ***'],
    ['MYSQL_PWD=a"b c"d mysql', 'MYSQL_PWD=*** mysql'],
    ['PASS=a\\ b make', 'PASS=*** make'],
    ['Server=db;Uid=sa;Pwd=hunter2;', 'Server=db;Uid=sa;Pwd=***;'],
    ['curl --user me:hunter2 https://x', 'curl --user me:*** https://x'],
    ['curl --user "me:hunter2" https://x', 'curl --user *** https://x'],
    ['curl -u hunter2: https://x', 'curl -u *** https://x'],
    ['curl -ume:hunter2 https://x', 'curl -ume:*** https://x'],
    ['/usr/bin/curl -s -u me:hunter2 x', '/usr/bin/curl -s -u me:*** x'],
    ['docker login -u me -p hunter2 registry.example', 'docker login -u me -p *** registry.example'],
    ['sshpass -p hunter2 ssh -p 22 host', 'sshpass -p *** ssh -p 22 host'],
    ['mysqldump -u root -p"hunter 2" shop', 'mysqldump -u root -p*** shop'],
    ['redis-cli -h db -a hunter2', 'redis-cli -h db -a ***'],
    ['git clone https://hunter2@example.com/a.git', 'git clone https://***@example.com/a.git'],
    ['git clone https://x-access-token:hunter2@example.com/a', 'git clone https://x-access-token:***@example.com/a'],
    ['psql postgres://me:p@ss@db/shop', 'psql postgres://me:***@db/shop'],
    ['token="a\\"b"', 'token=***'],
    ["token='a b' next", 'token=*** next'],
    ['token="unclosed and more', 'token=***'],
    ['curl "https://x/y?access_token=abc&page=2"', 'curl "https://x/y?access_token=***&page=2"'],
    ['curl -d \'{"password":"a\\"b","user":"me"}\'', 'curl -d \'{"password":***,"user":"me"}\''],
    ['echo "{\\"password\\": \\"abc\\"}"', 'echo "{\\"password\\": ***}"'],
    ['password: correct horse battery\nuser: me', 'password: ***\nuser: me'],
    ['  - name: x\n    api_key: abc', '  - name: x\n    api_key: ***'],
    ['x --token=abc --api-key abc', 'x --token=*** --api-key ***'],
    ['x --secret "a b" y', 'x --secret *** y'],
    ['X-Api-Key: abc', 'X-Api-Key: ***'],
    ['curl -H "Cookie: session=abc; theme=dark"', 'curl -H "Cookie: ***"'],
    ['authorization=Bearer abc123', 'authorization=***'],
    ['Authorization: token abc123', 'Authorization: ***'],
    ['got Bearer abcdefgh12345', 'got Bearer ***'],
    ['openssl rsa -passin pass:hunter2', 'openssl rsa -passin pass:***'],
    [`id ${AWS}`, 'id ***'],
    [`(${GITHUB})`, '(***)'],
    [`url ${SLACK}.`, 'url ***.'],
    [`key is ${OPENAI}`, 'key is ***'],
    [`jwt ${JWT} end`, 'jwt *** end'],
    ['AWS_SECRET_ACCESS_KEY=abc/def+ghi', 'AWS_SECRET_ACCESS_KEY=***'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nend', '***\nend'],
    ['key\\n-----BEGIN PRIVATE KEY-----\\nMII', 'key\\n***'],
  ])('%s', (line, shown) => {
    expect(maskSecrets(line)).toBe(shown);
  });
});

describe('unchanged', () => {
  test.each([
    'PASSED=3 FAILED=0',
    'tests: 12, pass: 12, fail: 0',
    '"pass": true,',
    '# pass 5',
    'PWD=/home/me OLDPWD=/tmp',
    'auth: ./src/auth.ts',
    'curl --user-agent Mozilla/5.0 https://x',
    'ssh -p 8080 host',
    'docker run -p 8080:80 web',
    'docker run -u 1000:1000 web',
    'git log --author me',
    'npm test -- --grep token',
    'src/auth/token.ts:12:5 - error TS2304: Cannot find name.',
    'token.txt: No such file or directory',
    'Unexpected token < in JSON at position 0',
    'SyntaxError: Unexpected token: }',
    'tokens: 812, max_tokens: 4096',
    'tokenizer: gpt2',
    'token_type: bearer',
    'PASSWORD_FILE=/run/secrets/db',
    'docker login --password-stdin registry.example',
    'secretary: Bob',
    'author: Bob, compass=north, bypass=on',
    'ssh://git@github.com/a/b.git and git@github.com:a/b.git',
    'https://example.com/a@b/c?x=1',
    'if (password == null || token != undefined)',
    'npm_config_registry=https://x and npm_lifecycle_event=test',
    'password: null',
    '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----',
  ])('%s', (line) => {
    expect(maskSecrets(line)).toBe(line);
  });
});

test('any value is masked, and the rest of the line is kept', () => {
  const value = fc.string({ unit: fc.constantFrom('a', 'B', '1', '/', ':', '@', '.', '-', '=', '%'), minLength: 6 });
  fc.assert(
    fc.property(value, fc.constantFrom('DB_PASSWORD', 'apiToken', 'client-secret'), (one, name) => {
      fc.pre(/[a-z\d]/i.test(one) && !one.startsWith('=') && !one.startsWith('//'));
      expect(maskSecrets(`a ${name}=${one} b`)).toBe(`a ${name}=*** b`);
      expect(maskSecrets(`a "${name}": "${one}" b`)).toBe(`a "${name}": *** b`);
    }),
  );
});

test('masking a masked text changes nothing', () => {
  const text = fc.string({
    unit: fc.constantFrom(
      'a',
      ' ',
      '=',
      ':',
      '"',
      "'",
      '\\',
      '\n',
      '-',
      'token',
      'pass',
      'curl -u ',
      '://',
      '@',
      '&',
      'Bearer ',
    ),
    maxLength: 40,
  });
  fc.assert(
    fc.property(text, (one) => {
      const masked = maskSecrets(one);
      expect(maskSecrets(masked).length).toBeLessThanOrEqual(masked.length + 3);
    }),
  );
});
