import winston from 'winston'

export type Log = winston.Logger

/** The process' log: one JSON object per line on standard error, so that standard output stays for people. */
export function createLog(level: string, stream: NodeJS.WritableStream = process.stderr): Log {
  return winston.createLogger({
    level,
    format: winston.format.combine(winston.format.timestamp(), winston.format.json()),
    transports: [new winston.transports.Stream({ stream })],
  })
}
