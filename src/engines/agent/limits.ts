/** Every bound of the agents. */
export const LIMITS = {
  /** Model calls in one answer, where the model's entry does not say. */
  maxSteps: 10,
  /** The longest silence while tools run or a person is asked. */
  pingMs: 15_000,
  message: {
    /** Calls in one message of a model. */
    calls: 128,
    /** Characters of one message of a model. */
    chars: 64 * 1024 * 1024,
    /** Of arguments that were no JSON, shown to the model that wrote them. */
    shownArguments: 400,
  },
  /** A stream that broke before the client saw anything of it is asked for again so often. */
  brokenStreamRetries: 1,
  context: {
    /** Tokens, for a model whose entry has no `context_window`. */
    window: 200_000,
    /** Part of the window from which on the older messages are summarised. */
    compactAt: 0.85,
    /** Room for the answer is kept free up to this part of the window. */
    answerRoom: 0.5,
    /** Part of the window that the newest messages keep, word for word. */
    keepRecent: 0.2,
    /** Part of the window that the text to be summarised may take. */
    summaryInput: 0.5,
    summaryTokens: 8_192,
    /** Room is made again only once the transcript has grown so much since. */
    worthAgain: 1.1,
    /** Results shorter than this are not worth leaving out. */
    elideFrom: 400,
    /** Of one result or one text in the text to be summarised. */
    renderedChars: 6_000,
    /** The user's last request is kept word for word up to here. */
    requestChars: 4_000,
  },
  /** Of an input that a person changed, shown to the model. */
  changedInputChars: 4_000,
  subAgent: { maxSteps: 20, progressChars: 200, labelChars: 100 },
  /** Conversations whose tools stay awake between two turns; the one that was unused longest goes first. */
  toolSessions: 256,
  /** An answer that another request is being given: how often it is looked for, and how long in between. */
  join: { tries: 20, pauseMs: 25 },
  instructions: { fileBytes: 32 * 1024, totalBytes: 64 * 1024 },
  /** Of what one tool says about its own use. */
  toolPromptChars: 8_000,
} as const;
