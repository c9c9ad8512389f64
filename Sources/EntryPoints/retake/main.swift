import RetakeCommand

RetakeCommand.main()
