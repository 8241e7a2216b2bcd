// Package slogor stands for the module of this name, which prints the log of lego in colours.
package slogor

import (
	"io"
	"log/slog"
)

type OptionFn func(*slog.HandlerOptions)

func SetLevel(level slog.Leveler) OptionFn {
	return func(options *slog.HandlerOptions) { options.Level = level }
}

func SetTimeFormat(string) OptionFn { return func(*slog.HandlerOptions) {} }

func DisableColor() OptionFn { return func(*slog.HandlerOptions) {} }

func NewHandler(output io.Writer, options ...OptionFn) slog.Handler {
	all := &slog.HandlerOptions{}
	for _, option := range options {
		option(all)
	}
	return slog.NewTextHandler(output, all)
}
