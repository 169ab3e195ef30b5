// Defines a tool from a zod shape of its arguments, which provides the JSON schema, the parser and the types.
import * as z from 'zod';
import { describeFailure, type Failure } from '../base/errors.ts';
import { type FailureCode } from '../base/failureCodes.ts';
import { defined } from '../base/json/defined.ts';
import { type Tool, type ToolContext, type ToolOutcome, type Touched } from '../core/ports/ports.ts';
import { type InspectedTask } from '../core/ports/tasks.ts';
import { type ToolTraits } from '../core/ports/toolTraits.ts';
import { parseArguments } from '../protocol/describeIssue.ts';
import { type Effect } from '../protocol/tool.ts';

export function defineTool<Shape extends z.ZodRawShape>(tool: {
  name: string;
  /** Written for a model. */
  description: string;
  effect: Effect;
  /** The tool only asks the user. */
  inquires?: true;
  /** The tool only changes files, and only through `Workspace.apply`. */
  previewed?: true;
  /** For tools whose calls have different effects; `effect` is then the strongest of them. */
  effectFor?(args: z.infer<z.ZodObject<Shape>>): Effect;
  /** Properties of the tool that core needs to know. */
  traits?: ToolTraits;
  emits?: readonly string[];
  arguments: Shape;
  /** The files, commands and addresses that a call would touch; used for approvals. */
  touches?(args: z.infer<z.ZodObject<Shape>>): Touched;
  /** The task that a call would run now. */
  inspect?(args: z.infer<z.ZodObject<Shape>>): Promise<InspectedTask | undefined>;
  /** Why a call cannot succeed; checked before approval is requested. */
  whyNot?(
    args: z.infer<z.ZodObject<Shape>>,
    context: Pick<ToolContext, 'conversation' | 'handles'>,
  ): Failure | undefined | Promise<Failure | undefined>;
  run(args: z.infer<z.ZodObject<Shape>>, context: ToolContext): Promise<ToolOutcome>;
}): Tool {
  const schema = z.strictObject(tool.arguments);
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { override: shortenSchema });
  return {
    description: { name: tool.name, description: tool.description, parameters },
    effect: tool.effect,
    ...(tool.inquires === true && { inquires: true as const }),
    ...(tool.previewed === true && { previewed: true as const }),
    ...defined({ traits: tool.traits }),
    emits: tool.emits ?? [],
    parse: parseArguments(schema),
    // The casts are safe: only parsed arguments get here.
    ...(tool.effectFor !== undefined && {
      effectFor: (args: unknown) => tool.effectFor?.(args as z.infer<z.ZodObject<Shape>>) ?? tool.effect,
    }),
    ...(tool.touches !== undefined && {
      touches: (args: unknown) => tool.touches?.(args as z.infer<z.ZodObject<Shape>>) ?? {},
    }),
    ...(tool.inspect !== undefined && {
      inspect: async (args: unknown) => tool.inspect?.(args as z.infer<z.ZodObject<Shape>>),
    }),
    ...(tool.whyNot !== undefined && {
      whyNot: (args: unknown, context: Pick<ToolContext, 'conversation' | 'handles'>) =>
        tool.whyNot?.(args as z.infer<z.ZodObject<Shape>>, context),
    }),
    run: (args, context) => tool.run(args as z.infer<z.ZodObject<Shape>>, context),
  };
}

/** Every request contains the schemas. Lengths and patterns are checked by the parser, whose failure names them. */
function shortenSchema({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  for (const keyword of ['minLength', 'maxLength', 'minItems', 'maxItems', 'pattern', 'propertyNames'] as const) {
    Reflect.deleteProperty(jsonSchema, keyword);
  }
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  // Any value: an object of free keys.
  if (JSON.stringify(jsonSchema.additionalProperties) === '{}') delete jsonSchema.additionalProperties;
}

/** A failure is described to the model with its next step, which is often a tool; people get it by its code. */
export function refuse(reason: Failure): ToolOutcome;
/** `text` is for the model. */
export function refuse(code: FailureCode, text: string): ToolOutcome;
export function refuse(reason: Failure | FailureCode, text = ''): ToolOutcome {
  if (typeof reason === 'string') return { content: text, isError: true, failure: reason };
  return { content: describeFailure(reason), isError: true, failure: reason.code };
}

/** The call was stopped. */
export function cancelled(): ToolOutcome {
  return refuse('cancelled', 'Cancelled by the user.');
}

export function answer(content: string): ToolOutcome {
  return { content, isError: false };
}
