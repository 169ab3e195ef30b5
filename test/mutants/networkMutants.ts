// Deliberate faults in what is sent to and accepted from other programs and hosts, each with the tests of which at
// least one must fail.
import { type Mutant } from './mutate.ts';

export const networkMutants: readonly Mutant[] = [
  {
    name: 'the library’s own headers are sent to the endpoint',
    file: 'src/models/openai/openaiRequest.ts',
    symbol: 'sendOnlyAllowed',
    find: '{ ...init, headers }',
    replace: '{ ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers } }',
    tests: ['test/unit/environment.test.ts'],
  },
  {
    name: 'a key of the environment replaces the configured one',
    file: 'src/models/openai/openaiRequest.ts',
    symbol: 'sendOnlyAllowed',
    find: 'authorization: `Bearer ${key}`,',
    replace: "authorization: new Headers(init.headers).get('authorization') ?? '',",
    tests: ['test/unit/environment.test.ts'],
  },
  {
    name: 'configured headers go to every host',
    file: 'src/mcp/session/serverFetch.ts',
    symbol: 'sendOne',
    find: 'return sendOver({ address }, url, { ...init, headers });',
    replace:
      'return sendOver({ address }, url, { ...init, headers: { ...launch.headers, ...Object.fromEntries(headers) } });',
    tests: ['test/walk/mcp/signIn.test.ts', 'test/unit/mcp/serverFetch.test.ts'],
  },
  {
    name: 'metadata is requested before the user clicks Sign In',
    file: 'src/mcp/session/openSession.ts',
    symbol: 'authProviderOf',
    find: 'if (signIn?.isAsked() === true || (await flow.hasTokens())) return flow.provider;',
    replace: 'if (signIn !== undefined) return flow.provider;',
    tests: ['test/walk/mcp/signIn.test.ts'],
  },
  {
    name: 'every host may be asked without a click once the user has signed in',
    file: 'src/mcp/oauth/oauthProvider.ts',
    symbol: 'createSignInFlow',
    find: 'return originsOf(await readTokens()).includes(origin);',
    replace: 'return (await readTokens()) !== undefined;',
    tests: ['test/walk/mcp/signIn.test.ts'],
  },
  {
    name: 'a sign-in may be led to addresses of this machine',
    file: 'src/mcp/session/serverFetch.ts',
    symbol: 'localScopes',
    find: "if (own.size === 0 || own.has('public') || own.has('reserved')) return [];",
    replace: "if (own.size === 0) return ['loopback', 'private', 'reserved'];",
    tests: ['test/unit/mcp/serverFetch.test.ts'],
  },
  {
    name: 'the address of a named host is looked up again for the connection',
    file: 'src/mcp/session/serverFetch.ts',
    symbol: 'sendOne',
    find: 'return sendOver({ address }, url, { ...init, headers });',
    replace: 'return globalThis.fetch(url, { ...init, headers });',
    tests: ['test/unit/mcp/serverFetch.test.ts'],
  },
  {
    name: 'a flood of an MCP server is handled as fast as it comes',
    file: 'src/mcp/session/flood.ts',
    symbol: 'inPieces',
    find: '    await setImmediate();\n',
    replace: '',
    tests: ['test/walk/mcp/floods.test.ts'],
  },
  {
    name: 'an MCP server may send without end',
    file: 'src/mcp/session/flood.ts',
    symbol: 'FloodGate.count',
    find: 'return this.isFlood ? FLOOD : undefined;',
    replace: 'return undefined;',
    tests: ['test/walk/mcp/floods.test.ts'],
  },
  {
    name: 'a result of an MCP server may have any number of parts',
    file: 'src/mcp/session/boundedMessages.ts',
    symbol: 'cutAnswer',
    find: 'return cut === result ? message : { ...message, result: cut };',
    replace: 'return message;',
    tests: ['test/walk/mcp/floods.test.ts'],
  },
];
