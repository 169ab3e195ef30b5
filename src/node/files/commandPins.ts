// Determines which code a command runs, by its program: interpreters with their script, shells, programs that run
// packages, and programs that run whatever the workspace says.
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { type CodeLanguage } from './codeNames.ts';
import { CodePins, readText } from './codePins.ts';

export interface CommandPlace {
  /** Where the command runs. */
  readonly folder: string;
  /** The folders of the workspace. */
  readonly roots: readonly string[];
  /** Variables that the command's configuration sets. */
  readonly configured?: Readonly<Record<string, string>>;
  /** The path of a program; undefined if there is none. */
  find(name: string): Promise<string | undefined>;
}

const SHELLS = words('sh bash dash zsh ksh ash fish busybox pwsh powershell cmd');
/** Programs that read from the workspace what they run. */
const RUNNERS = words(
  'npm pnpm yarn bun bunx deno tsx ts-node make gmake nmake cmake ninja uv poetry pdm hatch pipenv rye tox nox just task ' +
    'cargo go rake bundle gradle gradlew mvn mvnw ant sbt dotnet mix composer mise direnv nix devbox docker-compose ' +
    'podman-compose npm-run-all turbo nx bazel lerna vite jest vitest pytest ruby-bundle',
);
/** What such programs read. Its words are looked for as files, too. */
const PROJECT_FILES = words(
  'package.json package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb bunfig.toml .npmrc ' +
    '.yarnrc.yml deno.json deno.jsonc tsconfig.json Makefile makefile GNUmakefile pyproject.toml uv.lock uv.toml ' +
    'poetry.lock requirements.txt setup.py compose.yaml compose.yml docker-compose.yaml docker-compose.yml Dockerfile ' +
    'justfile Justfile Taskfile.yml Taskfile.yaml Cargo.toml Cargo.lock build.rs go.mod go.sum main.go Rakefile Gemfile ' +
    'Gemfile.lock build.gradle build.gradle.kts pom.xml build.xml mise.toml .mise.toml .envrc',
);
/** Variables that can make a program load or run other code. */
const LOADING =
  /^(?:NODE_(?:OPTIONS|PATH|REPL_EXTERNAL_MODULE)|BASH_ENV|ENV|ZDOTDIR|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|PYTHON(?!UNBUFFERED$|IOENCODING$|UTF8$|DONTWRITEBYTECODE$)\w*|LD_\w+|DYLD_\w+|PERL\w*|RUBY\w*|GEM_\w+|BUNDLE_\w+|JAVA_(?!HOME$)\w+|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|DOTNET_\w+|CORE?_?(?:CLR_)?PROFILER\w*|npm_config_\w+|UV_\w+|PIP_\w+|GIT_(?:SSH\w*|EXEC_PATH|ASKPASS|EDITOR|PAGER|CONFIG\w*|EXTERNAL_DIFF|TEMPLATE_DIR|PROXY_COMMAND)|SSH_ASKPASS|GOFLAGS|CARGO_\w+|RUSTC\w*|MAKEFLAGS|MAKEFILES|LUA_\w+|PHP\w*|ELECTRON_\w+|HOME|USERPROFILE|XDG_(?:CONFIG|DATA)_HOME|VIRTUAL_ENV|PATHEXT|COMSPEC|SHELL|OPENSSL_CONF)$/i;
/** Options of Node that load no further file, or load the file that follows them. */
const NODE_OPTION =
  /^(?:-r|--require|--import|--(?:experimental-)?loader|-C|--conditions|--enable-source-maps|--no-(?:warnings|deprecation|experimental-\w[\w-]*)|--trace-[\w-]+|--max-old-space-size|--inspect[\w-]*|--experimental-(?:strip-types|transform-types|vm-modules)|--disable-warning|--stack-size)$/;
const NODE_VALUE = /^(?:-r|--require|--import|--(?:experimental-)?loader|-C|--conditions)$/;
const PYTHON_OPTION = /^-[uBIEsSOqvP]+$/;
const MOST_STEPS = 8;

/** Whether a variable of this name can make a program load or run other code. */
export function isLoadingVariable(name: string): boolean {
  return LOADING.test(name);
}

/** `program` is the path of the program that is started. */
export async function pinCommand(program: string, args: readonly string[], place: CommandPlace): Promise<CodePins> {
  const pins = new CodePins(place.folder, place.roots);
  const command = new Command(pins, place);
  await command.add(program, args);
  await command.addVariables(place.configured ?? {});
  return pins;
}

class Command {
  readonly #pins: CodePins;
  readonly #place: CommandPlace;
  #steps = 0;

  constructor(pins: CodePins, place: CommandPlace) {
    this.#pins = pins;
    this.#place = place;
  }

  async add(program: string, args: readonly string[]): Promise<void> {
    const pins = this.#pins;
    pins.addInfluence(program);
    const name = nameOf(program);
    this.#steps += 1;
    if (this.#steps > MOST_STEPS) {
      pins.addUnpinned('program', name);
      return;
    }
    if (await pins.isInside(program)) return this.#addOfWorkspace(program, args);
    if (name === 'env') return this.#addEnv(args);
    if (name === 'node') return this.#addNode(args);
    if (name === 'python' || name === 'pythonw') return this.#addPython(args);
    if (name === 'npx' || name === 'uvx') return this.#addPackage(name, args);
    if ((name === 'docker' || name === 'podman') && args[0] === 'run') return this.#addContainer(name, args);
    await this.#addUnknown(program, args);
  }

  async addVariables(variables: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(variables)) {
      if (name.toUpperCase() === 'PATH') await this.#addPath(name, value);
      if (!LOADING.test(name)) continue;
      this.#pins.addUnpinned('variable', name);
      await this.#pins.addText(value.replaceAll(/[:;]/g, ' '));
    }
  }

  async #addPath(name: string, value: string): Promise<void> {
    for (const entry of value.split(delimiter)) {
      if (isAbsolute(entry) && !(await this.#pins.isInside(entry))) continue;
      this.#pins.addUnpinned('variable', name);
      this.#pins.markInWorkspace();
    }
  }

  /** A script is run by its interpreter. Everything else in the workspace may load whatever is beside it. */
  async #addOfWorkspace(program: string, args: readonly string[]): Promise<void> {
    this.#pins.markInWorkspace();
    const text = await readText(program);
    const [, line] = /^#![ \t]*([^\n\r]{1,500})/.exec(text ?? '') ?? [];
    const [interpreter = ''] = line?.split(/[ \t]/, 1) ?? [];
    const rest = line?.slice(interpreter.length).trim() ?? '';
    const found = interpreter === '' ? undefined : await this.#place.find(interpreter);
    if (found === undefined) {
      this.#pins.addUnpinned('program', this.#pins.nameOf(program));
      return this.#addNamed(args, 'ending');
    }
    await this.add(found, [...(rest === '' ? [] : [rest]), program, ...args]);
  }

  async #addEnv(args: readonly string[]): Promise<void> {
    const left = [...args];
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const split = /^(?:-S|--split-string=?)(.*)$/s.exec(next);
      const [, variable, value = ''] = /^(\w+)=(.*)$/s.exec(next) ?? [];
      if (split !== null)
        left.unshift(...((split[1] ?? '') === '' ? (left.shift() ?? '') : (split[1] ?? '')).split(/\s+/));
      else if (variable !== undefined) await this.addVariables({ [variable]: value });
      else if (next === '-u' || next === '--unset') left.shift();
      else if (next === '' || next === '-i' || next === '--' || next === '--ignore-environment') continue;
      else return this.#addWords([next, ...left], 'env');
    }
    this.#pins.addUnpinned('program', 'env');
  }

  /** A command that another program runs. */
  async #addWords([name = '', ...args]: readonly string[], runner: string): Promise<void> {
    const found = name.startsWith('-') ? undefined : await this.#place.find(name);
    if (found !== undefined) return this.add(found, args);
    this.#pins.addUnpinned('program', runner);
    await this.#addNamed([name, ...args], 'ending');
  }

  async #addNode(args: readonly string[]): Promise<void> {
    let isKnown = true;
    let at = 0;
    for (; at < args.length && args[at]?.startsWith('-') === true; at += 1) {
      const [, option = '', joined] = /^([^=]*)(?:=(.*))?$/s.exec(args[at] ?? '') ?? [];
      if (!NODE_OPTION.test(option)) isKnown = false;
      const value = joined ?? (NODE_VALUE.test(option) ? args[(at += 1)] : undefined);
      if (value !== undefined && !/^-C$|conditions$/.test(option)) await this.#addNodeModule(value);
    }
    const script = args[at];
    const file = script === undefined || !isKnown ? undefined : await this.#pins.find(script, 'module');
    if (file === undefined) {
      this.#pins.addUnpinned('program', 'node');
      return this.#addNamed(args, 'ending');
    }
    await this.#pins.addFile(file, 'js');
    await this.#addNamed(args.slice(at + 1), 'exact');
  }

  /** `-r name` also means a package. */
  async #addNodeModule(name: string): Promise<void> {
    const file = await this.#pins.find(name, 'module');
    if (file !== undefined) return this.#pins.addFile(file, 'js');
    const [, installed = name] = /^((?:@[^/]+\/)?[^/]+)/.exec(name) ?? [];
    if ((await this.#pins.findUpwards([join('node_modules', installed)])).length === 0) return;
    this.#pins.addUnpinned('package', installed);
    this.#pins.markInWorkspace();
  }

  async #addPython(args: readonly string[]): Promise<void> {
    const at = args.findIndex((arg) => !PYTHON_OPTION.test(arg));
    const script = at === -1 ? undefined : await this.#pins.find(args[at] ?? '', 'module');
    if (script === undefined) {
      this.#pins.addUnpinned('program', 'python');
      // A module is looked for in the folder first.
      const name = args[args.indexOf('-m') + 1]?.replaceAll('.', '/');
      return this.#addNamed(args.includes('-m') && name !== undefined ? [...args, name] : args, 'ending');
    }
    await this.#pins.addFile(script, 'python');
    await this.#addNamed(args.slice(at + 1), 'exact');
  }

  /** The package comes from a registry, unless the workspace has it. */
  async #addPackage(name: 'npx' | 'uvx', args: readonly string[]): Promise<void> {
    const pins = this.#pins;
    const plain = name === 'npx' ? /^(?:-y|--yes|-q|--quiet)$/ : /^(?:-q|--quiet|--isolated)$/;
    const packages = name === 'npx' ? /^(?:-p|--package)$/ : /^(?:--from|--with)$/;
    const valued = name === 'npx' ? packages : /^(?:--from|--with|-p|--python)$/;
    const specs: string[] = [];
    let at = 0;
    for (; at < args.length && args[at]?.startsWith('-') === true; at += 1) {
      const [, option = '', joined] = /^([^=]*)(?:=(.*))?$/s.exec(args[at] ?? '') ?? [];
      const value = valued.test(option) ? (joined ?? args[(at += 1)] ?? '') : undefined;
      if (value !== undefined && packages.test(option)) specs.push(value);
      else if (value === undefined && !plain.test(option)) pins.addUnpinned('program', name);
    }
    // After an option that names its package, the word is only a program of it.
    const isProgram = specs.length > 0;
    for (const spec of specs) await this.#addSpec(spec, name);
    await this.#addSpec(args[at] ?? '', name, isProgram);
    for (const path of name === 'npx' ? await pins.findUpwards(['.npmrc', 'package.json']) : []) {
      pins.addInfluence(path);
      const text = (await readText(path)) ?? '';
      if (basename(path) === 'package.json') continue;
      // It can name another registry.
      pins.markInWorkspace();
      if (/node-options|script-shell|prefix|config/i.test(text)) pins.addUnpinned('program', pins.nameOf(path));
    }
    await this.#addNamed(args.slice(at + 1), 'exact');
  }

  async #addSpec(spec: string, runner: string, isProgram = false): Promise<void> {
    const pins = this.#pins;
    const path = spec.replace(/^(?:file:|git\+file:\/\/|.*@ ?file:)/, '');
    const [, installed = ''] = /^((?:@[^/@]+\/)?[^/@=<>~! [\]]+)/.exec(spec) ?? [];
    const bins = [installed, join('.bin', installed.split('/').at(-1) ?? '')].map((one) => join('node_modules', one));
    const isPath = /[\\/]/.test(path.replace(/^@[^/]+\//, '')) || /^\.{1,2}$/.test(path);
    const local = runner === 'npx' && installed !== '' ? await pins.findUpwards(bins) : [];
    const isOutside = local.length === 0 && !(isPath && (await pins.isInside(resolve(this.#place.folder, path))));
    // A registry does not change the code of a published version.
    if (isOutside && (isProgram || hasExactVersion(spec, runner))) return;
    pins.addUnpinned('package', spec);
    if (isOutside) return;
    pins.markInWorkspace();
  }

  /** A container sees the workspace only if it is mounted. */
  async #addContainer(name: string, args: readonly string[]): Promise<void> {
    for (const piece of args.flatMap((arg) => arg.split(/[=:,]/))) {
      const path = resolve(this.#place.folder, piece);
      const isPath = /^[./\\]/.test(piece);
      if (isPath && (await this.#pins.isInside(path))) this.#pins.addUnpinned('program', name);
    }
    // Only a digest names one image.
    if (!args.some((arg) => /@sha256:[\da-f]{64}$/.test(arg))) this.#pins.addUnpinned('program', name);
    await this.#addNamed(args, 'exact');
  }

  async #addUnknown(program: string, args: readonly string[]): Promise<void> {
    const name = nameOf(program);
    this.#pins.addUnpinned('program', name);
    await this.#addNamed(args, 'ending', SHELLS.has(name) ? 'other' : undefined);
    const mentioned = args.flatMap((arg) => arg.split(/\s+/));
    const isRunner = (one: string) =>
      RUNNERS.has(one) || ((one === 'docker' || one === 'podman') && args.includes('compose'));
    const texts = SHELLS.has(name) ? await Promise.all(args.map((arg) => this.#pins.addText(arg))) : [];
    if (!isRunner(name) && !texts.flat().some((command) => isRunner(nameOf(command)))) return;
    this.#pins.markInWorkspace();
    for (const path of await this.#pins.findUpwards([...PROJECT_FILES])) {
      this.#pins.addInfluence(path);
      const text = (await readText(path)) ?? '';
      await this.#pins.addText(basename(path) === 'package.json' ? scriptsIn(text, mentioned) : text);
    }
  }

  /** The files that arguments name, also as `--option=file`. */
  async #addNamed(args: readonly string[], form: 'exact' | 'ending', language?: CodeLanguage): Promise<void> {
    for (const arg of args) {
      const joined = arg.startsWith('-') && arg.includes('=') ? [arg.slice(arg.indexOf('=') + 1)] : [];
      for (const name of [arg, ...joined]) {
        if (name === '' || name.includes('\0')) continue;
        for (const file of await this.#pins.findAll(name, form)) await this.#pins.addFile(file, language);
      }
    }
  }
}

/** `/usr/bin/python3.12` is `python`, `node.exe` is `node`. */
function nameOf(program: string): string {
  const name = basename(program.replaceAll('\\', '/')).toLowerCase();
  const plain = name.replace(/\.(?:exe|cmd|bat|com|ps1)$/, '');
  return /^([a-z_-]+)[\d.]*$/.exec(plain)?.[1] ?? plain;
}

/** The scripts of package.json that the words name; all of them if they name none. */
function scriptsIn(text: string, mentioned: readonly string[]): string {
  try {
    const { scripts = {} } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    const isNamed = (name: string) =>
      mentioned.some((word) => name === word || name === `pre${word}` || name === `post${word}`);
    const named = Object.keys(scripts).filter(isNamed);
    return (named.length > 0 ? named : Object.keys(scripts)).map((name) => String(scripts[name])).join('\n');
  } catch {
    return text;
  }
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** `name@1.2.3`, `name==1.2`. For npm, a version with fewer than three numbers is a range. */
function hasExactVersion(spec: string, runner: string): boolean {
  const version = spec.slice(Math.max(spec.lastIndexOf('@'), spec.lastIndexOf('==') + 1) + 1);
  return version !== spec && /^v?\d[\w.+-]*$/.test(version) && version.split('.').length >= (runner === 'npx' ? 3 : 2);
}
