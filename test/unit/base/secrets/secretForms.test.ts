// Forms in which a secret occurs in command lines and output: the secret is masked in each, and texts that only look
// similar stay readable.
import { describe, expect, test } from 'vitest';
import { maskSecrets } from '../../../../src/base/secrets/maskSecrets.ts';

const WORD = 'correct-horse';
const RANDOM = 'q7Zp2Lk9Vx4T';
const HEX = '0123456789abcdef0123456789abcdef';
const LONG = 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d';
/** Joined at run time, so that no scanner reports a secret in this file. */
const join = (...parts: readonly string[]) => parts.join('');
const pem = (label: string) => `-----BEGIN ${label}-----`;
const end = (label: string) => `-----END ${label}-----`;
const BODY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';

/** Each line, and the secrets in it that must not be shown. */
const FORMS: ReadonlyArray<readonly [line: string, ...secrets: string[]]> = [
  // Addresses
  [`curl "https://maps.example/api?key=${WORD}"`, WORD],
  [`GET /v1/items?page=2&key=${RANDOM} 403`, RANDOM],
  [`https://x.example/cb#access_token=${WORD}&state=1`, WORD],
  [`https://x.example/cb?code=${LONG}&state=1`, LONG],
  [`https://b.s3.example/o?X-Amz-Signature=${HEX}&X-Amz-Date=2026`, HEX],
  [`https://a.blob.example/c?sv=2024&sig=${WORD}%3D`, WORD],
  [`https://x.example/?api%5Fkey=${WORD}`, WORD],
  [`https://me:${WORD}@x.example/`, WORD],
  [`https://hooks.slack.com/services/T00000000/B00000000/${RANDOM}`, RANDOM],
  [`https://discord.com/api/webhooks/123456789012345678/${LONG}`, LONG],
  [`https://api.telegram.org/bot123456789:AA${LONG.slice(0, 33)}/getMe`, LONG.slice(0, 33)],
  // Commands that set a value
  [`aws configure set aws_secret_access_key ${WORD}`, WORD],
  [`setx TOKEN ${WORD}`, WORD],
  [`setx.exe API_KEY "${WORD}" /M`, WORD],
  [`setenv DB_PASSWORD ${WORD}`, WORD],
  [`set -gx GITHUB_TOKEN ${WORD}`, WORD],
  [`npm config set //registry.example/:_authToken ${WORD}`, WORD],
  [`git config --global example.token ${WORD}`, WORD],
  [`dotnet user-secrets set "Api:Secret" "${WORD}"`, WORD],
  [`pulumi config set --secret dbUrl ${WORD}`, WORD],
  [`gh secret set DEPLOY --body ${WORD}`, WORD],
  [`fly secrets set DB=${WORD}`, WORD],
  [`heroku config:set DB=${WORD}`, WORD],
  [`[Environment]::SetEnvironmentVariable("TOKEN", "${WORD}")`, WORD],
  [`kubectl create secret generic a --from-literal=a=${WORD}`, WORD],
  [`kubectl create secret generic a --from-literal a=${WORD} --from-literal=b=${RANDOM}`, WORD, RANDOM],
  // Names without a sign
  [`ANTHROPIC_API_KEY ${WORD}`, WORD],
  [`Using ANTHROPIC_API_KEY ${RANDOM} for requests`, RANDOM],
  [`export -n OPENAI_API_KEY ${WORD}`, WORD],
  [`machine x.example login me password ${WORD}`, WORD],
  [`ALTER USER me WITH PASSWORD '${WORD}';`, WORD],
  [`CREATE USER me IDENTIFIED BY '${WORD}';`, WORD],
  // Other assignments
  [`DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${WORD}==;EndpointSuffix=x`, WORD],
  [`Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=${WORD}=`, WORD],
  [`'password' => '${WORD}',`, WORD],
  [`API_TOKEN ?= ${WORD}`, WORD],
  [`os.environ["API_TOKEN"] = "${WORD}"`, WORD],
  [`<password>${WORD}</password>`, WORD],
  [`<add key="DbPassword" value="${WORD}" />`, WORD],
  [`PresharedKey = ${WORD}`, WORD],
  // Values on the next line
  [`secret:\n  ${WORD}\nname: a`, WORD],
  [`  api_key: >-\n    ${WORD}\n    ${RANDOM}\n  name: a`, WORD, RANDOM],
  [`password: |\n  ${WORD}\n\n  ${RANDOM}\nname: a`, WORD, RANDOM],
  [`{\n  "secret":\n    "${WORD}",\n  "a": 1\n}`, WORD],
  [`Your new token:\n${RANDOM}\nKeep it.`, RANDOM],
  // Standard input
  [`echo ${WORD} | docker login -u me --password-stdin`, WORD],
  [`echo -n "${WORD}" | docker login --password-stdin x.example`, WORD],
  [`printf '%s' ${WORD} | podman login --password-stdin`, WORD],
  [`docker login --password-stdin <<< "${WORD}"`, WORD],
  [`docker login --password-stdin <<EOF\n${WORD}\nEOF\nls`, WORD],
  [`'${WORD}' | docker login --password-stdin`, WORD],
  [`echo ${WORD} | gh auth login --with-token`, WORD],
  [`echo ${WORD} | sudo -S apt update`, WORD],
  [`echo "me:${WORD}" | chpasswd`, WORD],
  // Options and positions
  [`openssl enc -aes-256-cbc -k ${WORD} -in a`, WORD],
  [`openssl enc -d -pass pass:${WORD} -in a`, WORD],
  [`openssl dgst -sha256 -hmac ${WORD} a`, WORD],
  [`htpasswd -b file me ${WORD}`, WORD],
  [`htpasswd -nbB me ${WORD}`, WORD],
  [`net user me ${WORD} /add`, WORD],
  [`zip -P ${WORD} a.zip b`, WORD],
  [`7z a -p${WORD} a.7z b`, WORD],
  [`sqlcmd -S db -U sa -P ${WORD}`, WORD],
  [`keytool -list -storepass ${WORD} -keystore a.jks`, WORD],
  [`smbclient //h/s -U me%${WORD}`, WORD],
  [`lftp -u me,${WORD} x.example`, WORD],
  [`vault login ${WORD}`, WORD],
  [`cargo login ${WORD}`, WORD],
  [`ngrok config add-authtoken ${WORD}`, WORD],
  [`rabbitmqctl add_user me ${WORD}`, WORD],
  [`dotnet nuget push a.nupkg -k ${WORD}`, WORD],
  [`az keyvault secret set --name a --value ${WORD}`, WORD],
  [`ConvertTo-SecureString "${WORD}" -AsPlainText -Force`, WORD],
  [`curl -b "session=${WORD}" https://x.example`, WORD],
  // Private keys
  [`${pem('PGP PRIVATE KEY BLOCK')}\n\nlQVYBG${LONG}\n=ab\n${end('PGP PRIVATE KEY BLOCK')}\nok`, LONG],
  [`${pem('OPENSSH PRIVATE KEY')}\n${LONG}\n${end('OPENSSH PRIVATE KEY')}`, LONG],
  [`---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n${LONG}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----`, LONG],
  [`PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n${LONG}\nPrivate-MAC: ${HEX}`, LONG, HEX],
  [`${LONG}\n${LONG}\n${end('RSA PRIVATE KEY')}\nok`, LONG],
  [`${BODY}\n${BODY}\n${BODY}\nok`, BODY],
  // Broken names
  [`PASS\u200bWORD=${WORD}`, WORD],
  [`DB_PASS\u001b[0mWORD=${WORD}`, WORD],
  [`\u001b[31mTOK\u001b[1mEN\u001b[0m=${WORD}`, WORD],
  [`{"pass\\u0077ord": "${WORD}"}`, WORD],
  [`to\u00adken: ${WORD}`, WORD],
];

/** Tokens that are recognized by their beginning. */
const TOKENS: readonly string[] = [
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_', 'glpat-', 'gldt-', 'glrt-', 'glptt-'],
  ...['xoxb-', 'xoxp-', 'xapp-', 'sk_live_', 'rk_live_', 'whsec_', 'npm_', 'pypi-', 'ya29.', 'GOCSPX-', 'dop_v1_'],
  ...['hf_', 'sk-ant-api03-', 'sk-proj-', 'sk-', 'shpat_', 'shpss_', 'lin_api_', 'ntn_', 'hvs.', 'dp.pt.', 'fo1_'],
  ...['sbp_', 'sb_secret_', 'pscale_tkn_', 'PMAK-', 'NRAK-', 'sntrys_', 'dckr_pat_', 'figd_', 'r8_', 'pplx-', 'xai-'],
  ...['gsk_', 'tskey-auth-', 'nvapi-', 'rubygems_', 'sgp_', 'squ_', 'xkeysib-', 'ATATT3x', 'HRKU-', 'nfp_', 'pul-'],
  ...['lsv2_pt_', 'secret_', 'CCIPAT_', 'bkua_', 'tvly-', 'glsa_', 'dt0c01.', 'figo_', 'AGE-SECRET-KEY-1', 'AKIA'],
  ...['AIza', 'sq0csp-', 'CFPAT-', 'shippo_live_', 'pcsk_', 'duffel_live_', 'rnd_', 'EAA', 'fm2_', 'sl.', 'ops_eyJ'],
];

const EXACT: readonly string[] = [
  join('SG.', LONG.slice(0, 22), '.', LONG),
  join('SG.', 'abcdefgh', '.', 'ijklmnop'),
  join('SK', HEX),
  join('key-', HEX),
  join('dapi', HEX),
  join(HEX, '-us12'),
  join('123456789:AA', LONG.slice(0, 33)),
  join('MTIzNDU2Nzg5MDEyMzQ1Njc4', '.GabcdE.', LONG.slice(0, 27)),
  join('ABCDEFGHIJKLMN', '.atlasv1.', LONG, LONG),
  join('pat', 'abcdefghijklmn', '.', HEX, HEX),
  join('abc8Q~', LONG.slice(0, 34)),
  join('re_abcdEFGH_', LONG.slice(0, 24)),
];

describe('masked', () => {
  test.each(FORMS)('%s', (line, ...secrets) => {
    const masked = maskSecrets(line);
    for (const secret of secrets) expect(masked).not.toContain(secret);
    expect(masked).toContain('***');
  });

  test.each([...TOKENS.map((prefix) => `${prefix}${LONG}`), ...EXACT])('the token %s', (token) => {
    expect(maskSecrets(`got ${token} end`)).toBe('got *** end');
    expect(maskSecrets(`found "${token}".`)).toBe('found "***".');
  });
});

test('the text around a secret whose name is broken by invisible characters is kept as it was', () => {
  expect(maskSecrets(`a\u200bb \u001b[31mPASS\u200bWORD=${WORD}\u001b[0m c\u200bd`)).toBe(
    'a\u200bb \u001b[31mPASS\u200bWORD=***\u001b[0m c\u200bd',
  );
});

test('what follows a masked block stays readable', () => {
  expect(maskSecrets(`docker login --password-stdin <<EOF\n${WORD}\nEOF\nls -l`)).toBe(
    'docker login --password-stdin <<EOF\n***\nEOF\nls -l',
  );
  expect(maskSecrets(`secret: |\n  ${WORD}\n  ${RANDOM}\nname: a`)).toBe('secret: |\n  ***\nname: a');
  expect(maskSecrets(`${pem('PGP PRIVATE KEY BLOCK')}\n${LONG}\n${end('PGP PRIVATE KEY BLOCK')}\nok`)).toBe('***\nok');
  expect(maskSecrets(`step 1\n${LONG}\n${end('RSA PRIVATE KEY')}\nok`)).toBe('step 1\n***\nok');
});

describe('unchanged', () => {
  test.each([
    'git commit -m "key: value"',
    'key=value other=1',
    '--key-file path/to/key.pem --cert a.pem',
    '-index 1234567..89abcde 100644',
    `commit ${HEX}01234567`,
    `${HEX}${HEX}\n${HEX}${HEX}\n${HEX}${HEX}\n`,
    '123e4567-e89b-12d3-a456-426614174000',
    'ANTHROPIC_API_KEY is not set',
    'Error: ANTHROPIC_API_KEY environment variable missing',
    'export GITHUB_TOKEN',
    'unset GITHUB_TOKEN OTHER',
    'Set the GITHUB_TOKEN secret in the settings',
    'kubectl get secret db-credentials-v2 -o name',
    'kubectl create secret generic a --from-file=key.pem',
    'cat token.txt | docker login --password-stdin',
    'echo "$TOKEN" | docker login --password-stdin',
    'echo hello | grep h',
    'echo done; docker login --password-stdin < file',
    'openssl enc -aes-256-cbc -pass file:key.txt -in a',
    'openssl x509 -in a.pem -noout',
    'htpasswd -c file me',
    'zip -r a.zip b',
    '7z a a.7z b',
    'net user',
    'set -e -u -o pipefail',
    'set -x\nmake',
    'aws configure set region eu-central-1',
    'git config user.name Bob',
    'secrets:\n  - name: a\n  - name: b',
    'token:\n  type: string\n  required: true',
    '"password": {\n  "type": "string"\n}',
    'auth:\n  strategy: none',
    'Enter the token:\n\nAborted.',
    "Unexpected token 'export'",
    'https://example.com/search?q=key&page=2',
    'https://example.com/?key=1&code=404',
    'https://discord.com/api/webhooks',
    'npm install sk-learn-contrib',
    'task-12345678 and desk-top-computer',
    'secret_name and hf_hub_download and re_compile_pattern',
    'pat.match, sl.com, npm_config_cache, pypi-server',
    'const isTokenExpired = () => true',
    '-----BEGIN PGP PUBLIC KEY BLOCK-----\nabc\n-----END PGP PUBLIC KEY BLOCK-----',
    '<token>',
    'vault status',
    'cargo test login',
    'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'a\u200bb \u001b[31mred\u001b[0m',
    'printf "%s\\n" a b | sort',
    'curl -sS -o /dev/null https://x.example',
  ])('%s', (line) => {
    expect(maskSecrets(line)).toBe(line);
  });
});
